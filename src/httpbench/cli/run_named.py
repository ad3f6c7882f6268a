"""The run that a word on the command line names: a file, or a run in the results database."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.model import Run, Trial
    from httpbench.store import Store


def run_named(store: Store, word: str) -> tuple[Run, list[Trial]]:
    """The run of a JSON export, or the stored one. Raises :class:`SelectionError` for a word that is neither."""
    from httpbench.report import read_export

    return read_export(Path(word)) if Path(word).is_file() else store.run(word)
