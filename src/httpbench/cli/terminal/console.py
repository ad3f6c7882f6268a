"""All output of the command: data on standard output, everything else on standard error, and exports to files.

Some of the output comes from other programs. All output therefore passes through :func:`httpbench.text.printable`, which escapes control
characters. A test fails if another module prints.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import click

from httpbench.text import one_line, printable

if TYPE_CHECKING:
    from rich.console import Console

    from httpbench.cli.terminal.progress import Lines
    from httpbench.errors import HttpbenchError
    from httpbench.report.terminal.grid import Cells

WIDTH_WITHOUT_TERMINAL = 240  # wide enough that tables in files show all columns
TERMINAL_VARIABLES = {"FORCE_COLOR", "TTY_COMPATIBLE"}
"""Environment variables that make rich treat its output as a terminal."""


def stdout() -> Console:
    """Return a console for data."""
    from httpbench.cli.terminal.safe_console import SafeConsole

    console = SafeConsole()
    return console if console.is_terminal else SafeConsole(width=WIDTH_WITHOUT_TERMINAL)


def stderr() -> Console:
    """Return a console for everything that isn't data."""
    from httpbench.cli.terminal.safe_console import SafeConsole

    return SafeConsole(stderr=True)


@contextmanager
def observer(*, quiet: bool = False) -> Iterator[Lines]:
    """Yield the progress display for standard error: a live area on a terminal, lines elsewhere, or nothing if ``quiet``."""
    from httpbench.cli.terminal.progress import Lines

    say = partial(echo, err=True)
    if quiet or not (sys.stderr.isatty() or os.environ.keys() & TERMINAL_VARIABLES):
        yield Lines(say if not quiet else lambda line: None)
        return
    output = stderr()
    if not output.is_terminal:
        yield Lines(say)
        return
    from rich.live import Live

    from httpbench.cli.terminal.live_area import REFRESH_PER_S, LiveArea

    area = LiveArea(output)
    with Live(area, console=output, refresh_per_second=REFRESH_PER_S, transient=True):
        yield area


def show(columns: Sequence[Cells], output: Console | None = None) -> None:
    """Print columns that fit the terminal, on standard output unless another console is given."""
    from rich.console import Group

    from httpbench.report.terminal.grid import fitted

    output = output or stdout()
    output.print(Group(*fitted(columns, output.width)))


def echo(text: str, *, err: bool = False) -> None:
    """Print lines without rich, because importing rich takes a tenth of a second."""
    click.echo(printable(text), err=err)


def warn(text: str) -> None:
    """Print a warning to standard error."""
    echo(f"warning: {text}", err=True)


def echo_json(value: Any) -> None:
    echo(json.dumps(value, indent=2, ensure_ascii=False))


def write(text: str) -> None:
    """Write an export to standard output."""
    sys.stdout.write(printable(text))


def save(text: str, path: Path) -> None:
    """Write an export to a file, which is replaced as a whole. Raise ``OSError`` if that fails.

    A full disk or a kill therefore leaves the earlier file. Devices, pipes and files in folders where nothing can be created are written
    in place.
    """
    import shutil
    import tempfile

    path = path.resolve()
    if path.exists() and not path.is_file():
        path.write_text(printable(text), encoding="utf-8")
        return
    path.touch()  # with the usual permissions, which the new file gets
    try:
        descriptor, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError:
        path.write_text(printable(text), encoding="utf-8")
        return
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(printable(text))
        shutil.copymode(path, beside)
        Path(beside).replace(path)
    except BaseException:
        Path(beside).unlink(missing_ok=True)
        raise


def problem(target: str, error: HttpbenchError) -> None:
    """Print a target's error and its hint on one line to standard error."""
    hint = f"; hint: {error.hint}" if error.hint else ""
    echo(one_line(f"{target}: {error.message}{hint}"), err=True)


def error(message: str, hint: str | None = None, log_tail: str | None = None) -> None:
    """Print an error to standard error, with its hint and the log lines that explain it."""
    for line in message.splitlines():
        click.echo(f"{click.style('error', fg='red', bold=True)}: {printable(line)}", err=True)
    if log_tail:
        echo("\n".join(f"  | {line}" for line in log_tail.splitlines()), err=True)
    if hint:
        click.echo(f"{click.style('hint', fg='cyan', bold=True)}: {printable(hint)}", err=True)


def fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print an uncaught exception. Its message may quote other programs, so control characters are escaped."""
    echo("".join(traceback.format_exception(kind, error, trace)).rstrip("\n"), err=True)
