"""Container engines, before they are used: they must respond, and what a killed run left behind is removed."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console

from httpbench.model import Target
from httpbench.run import engines_of, remove_leftovers, require_engine


def prepare_engines(targets: Iterable[Target], errors: Console) -> None:
    """Raises :class:`~httpbench.errors.RequirementError` with the fix if an engine is missing, or does not respond."""
    for engine in engines_of(targets):
        require_engine(engine)
        if removed := remove_leftovers(engine):
            count = f"{len(removed)} container" + ("" if len(removed) == 1 else "s")
            errors.print(f"removed {count} that an earlier httpbench left behind when it was killed", markup=False)
