"""The two streams: data on standard output, everything else on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

    from httpbench.cli.exports import Exports
    from httpbench.errors import HttpbenchError

WIDTH_WITHOUT_TERMINAL = 240  # nothing is cut from a table that goes into a file


def stdout() -> Console:
    from rich.console import Console

    console = Console(highlight=False, soft_wrap=False)
    return console if console.is_terminal else Console(highlight=False, width=WIDTH_WITHOUT_TERMINAL)


def stderr() -> Console:
    from rich.console import Console

    return Console(stderr=True, highlight=False)


def beside(files: Exports) -> Console:
    """Where tables go: standard output, unless an export is written there."""
    return stderr() if files.to_stdout else stdout()


def problem(output: Console, target: str, error: HttpbenchError) -> None:
    """One line: what failed at a target, and the hint."""
    hint = f"; hint: {error.hint}" if error.hint else ""
    output.print(f"{target}: {error.message}{hint}", markup=False, soft_wrap=True)
