"""The command ``httpbench``: the list of its verbs, and the handling of errors.

Data goes to standard output, everything else to standard error.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from httpbench import __version__
from httpbench.cli.exit_codes import ExitCode, of_error
from httpbench.cli.lazy import LazyGroup
from httpbench.cli.options import foreign as foreign_options
from httpbench.cli.terminal import console
from httpbench.errors import HttpbenchError, UsageError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

STDOUT = 1
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
MORE_PROCESSES = "raise `ulimit -u`, or the limit of the control group: pids.max, docker run --pids-limit"
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")

EXAMPLES = """
\b
Examples:
  httpbench run './old {port}' './new {port}'  compare two of your servers
  httpbench list                               targets, and what is missing
  httpbench bench c/epoll golang -c 8,64       8 and 64 connections
  httpbench bench --quick --dry-run            the plan and its duration
  httpbench saturate c/nginx --slo 'p99<5ms'   the highest rate
  httpbench report --export-markdown -         the last run, as Markdown
"""

VERBS = {
    "list": "List targets, their state, and how to fix problems.",
    "setup": "Install the Debian packages that targets require.",
    "build": "Build targets ahead of their first use.",
    "run": "Compare servers of your own, given as commands or URLs.",
    "bench": "Measure targets of one kind in interleaved rounds.",
    "saturate": "Find the highest rate that meets a service level.",
    "up": "Start one target for load that you generate yourself.",
    "responses": "Show a response from each server, byte for byte.",
    "versions": "Print the versions of toolchains and of built libraries.",
    "new": "Create a target of your own.",
    "verify": "Check that targets meet the contract.",
    "probe": "Find out whether servers route, parse or respond to anything.",
    "report": "Show a stored run again.",
    "explore": "Write many runs' results as one page to sort and filter.",
    "compare": "Show what changed from one run to another.",
    "history": "Show a target's results over many runs, and when they changed.",
    "audit": "Find figures that can't be true, or mean less than they say.",
    "bisect": "Find the commit that made a server slower.",
    "runs": "List stored runs, delete some, or store published results.",
    "serve": "Show all stored runs in a browser, including runs in progress.",
    "doctor": "Show the environment, and what will disturb a measurement.",
    "tune": "Tune this machine's settings for measuring, or restore them.",
    "hosts": "Check load hosts before a run.",
    "noise": "Measure this machine's noise floor: one server against itself.",
    "completion": "Install tab completion for your shell.",
}
"""The first sentence of each verb's help. Verbs are in the order in which users usually need them.

A test compares this table with the help.
"""


@click.group(
    cls=LazyGroup,
    package="httpbench.cli.verbs",
    verbs=VERBS,
    epilog=EXAMPLES,
    invoke_without_command=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
@click.pass_context
def cli(context: click.Context) -> None:
    """Build, run, load and compare servers in any language: hyperfine for network services."""
    if context.invoked_subcommand is None:
        from httpbench.cli.welcome import welcome

        welcome()


def run_command_line() -> None:
    """Run the command line and end the process with its exit code."""
    sys.excepthook = console.fault
    sys.stdout, sys.stderr = _lasting(sys.stdout), _lasting(sys.stderr)
    _search_system_folders()
    sys.exit(_exit_code())


def _lasting(stream: TextIO) -> TextIO:
    """Return a stream for the same output that can be used after the reader has closed it."""
    if not isinstance(stream, io.TextIOWrapper):  # Python sets a closed stream to None
        return stream
    raw = io.BufferedWriter(_Lasting(stream.fileno(), "w", closefd=False))
    # Print "?" for characters that the terminal can't encode, such as "µ".
    return io.TextIOWrapper(raw, encoding=stream.encoding, errors="replace", line_buffering=stream.line_buffering)


class _Lasting(io.FileIO):
    """Output that is discarded after its pipe or terminal was closed. A closed terminal must not make a trial fail."""

    def write(self, data: ReadableBuffer, /) -> int:
        try:
            return super().write(data)
        except OSError as error:
            if self.fileno() == STDOUT and error.errno != errno.EPIPE:
                raise
            _discard_output(self.fileno())
            return memoryview(data).nbytes


def _exit_code() -> int:
    """Run the command line, print an error if there is one, and return the exit code."""
    try:
        _require_utf8()
        code = cli.main(prog_name="httpbench", standalone_mode=False)
        return code if isinstance(code, int) else ExitCode.OK
    except HttpbenchError as error:
        console.error(error.message, error.hint, error.log_tail)
        return of_error(error)
    except click.ClickException as error:
        context = error.ctx if isinstance(error, click.UsageError) else None
        usual = f"{context.command_path} --help" if context else None
        foreign = foreign_options.explained(error) if isinstance(error, click.NoSuchOption) else None
        console.error(*(foreign or (error.format_message(), usual)))
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        console.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except (OSError, RuntimeError) as error:
        if _is_lack_of_processes(error):
            console.error("cannot start another process or thread: their number is limited", hint=MORE_PROCESSES)
            return ExitCode.FAILED
        if isinstance(error, FileNotFoundError) and _is_deleted_folder():
            console.error("the current folder has been deleted", hint="change to another folder")
            return ExitCode.USAGE
        if not isinstance(error, OSError) or error.errno not in OUTPUT_ERRORS:
            raise
        console.error(f"cannot write the output: {error.strerror}")
        _discard_output(STDOUT)
        return ExitCode.FAILED


def _is_deleted_folder() -> bool:
    try:
        Path.cwd()
    except FileNotFoundError:
        return True
    return False


def _is_lack_of_processes(error: BaseException) -> bool:
    """Return whether the kernel refused to start a process or a thread. The exceptions have no kind of their own."""
    last = [frame for frame, _ in traceback.walk_tb(error.__traceback__)][-1]
    if isinstance(error, OSError):
        return error.errno == errno.EAGAIN and last.f_globals.get("__name__") == "subprocess"
    return last.f_code is threading.Thread.start.__code__


def _require_utf8() -> None:
    """Raise :class:`UsageError` if an argument or the current folder is not UTF-8. httpbench can't store or print such text."""
    texts = {f"argument {number}": word for number, word in enumerate(sys.argv[1:], 1)}
    with contextlib.suppress(OSError):  # the folder may have been deleted
        texts["the name of the current folder"] = str(Path.cwd())
    for what, text in texts.items():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{what} is not valid UTF-8: {os.fsencode(text)!r}", hint="rename the file, or use a link to it") from None


def _discard_output(stream: int) -> None:
    """Redirect a closed stream to /dev/null, so that Python doesn't raise another error when it flushes the stream at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream)


def _search_system_folders() -> None:
    """Add system folders to PATH.

    Debian installs servers such as nginx in these folders, but a user's PATH usually doesn't contain them.
    """
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([*folders, *(folder for folder in SYSTEM_FOLDERS if folder not in folders)])
