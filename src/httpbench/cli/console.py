"""The two streams: data on standard output, everything else on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

WIDTH_WITHOUT_TERMINAL = 240  # nothing is cut from a table that goes into a file


def stdout() -> Console:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)
