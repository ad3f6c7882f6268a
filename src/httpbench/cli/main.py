"""The command ``httpbench``: its verbs, and what it says when something is wrong.

Data goes to standard output, everything else to standard error. Exit codes: 0 fine, 1 a run failed, 2 wrong usage or configuration,
3 a gate was breached, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import errno
import io
import os
import sys
from pathlib import Path

import click

from httpbench import __version__
from httpbench.cli import EXIT_INTERRUPTED
from httpbench.cli.lazy import LazyGroup, Verb
from httpbench.errors import HttpbenchError, UsageError

STDOUT = 1
OUTPUT_ERRORS = (errno.ENOSPC, errno.EDQUOT, errno.EIO)
SYSTEM_FOLDERS = ("/usr/local/sbin", "/usr/sbin", "/sbin")

EXAMPLES = """
\b
Examples:
  httpbench list                              every row, its state, and what would mend it
  httpbench run './old {port}' './new {port}' compare two servers of your own
  httpbench bench c/epoll golang -c 8,64      compare rows at 8 and 64 connections
  httpbench saturate c/nginx --slo 'p99<5ms'  the highest rate at which a service level holds
  httpbench bench --quick --dry-run           what would be done, and how long it would take
  httpbench report latest --export-markdown - the last run again, as Markdown
"""


VERBS = {
    "list": Verb("httpbench.cli.list:list_rows", "List rows: their state, and the command that would mend what is missing."),
    "setup": Verb("httpbench.cli.setup:setup", "Install from Debian's packages what rows need and this machine lacks."),
    "build": Verb("httpbench.cli.build:build", "Build rows, of all kinds, that are not built yet."),
    "run": Verb(
        "httpbench.cli.run:run",
        "Compare servers: start each command on a free port, wait until it answers, measure all in interleaved rounds.",
    ),
    "bench": Verb(
        "httpbench.cli.bench:bench",
        "Measure rows of one kind: build what is missing, start, warm up, measure, stop, in interleaved rounds.",
    ),
    "saturate": Verb(
        "httpbench.cli.saturate:saturate", "Find the highest rate at which a service level holds, and draw latency against rate."
    ),
    "responses": Verb(
        "httpbench.cli.responses:responses",
        "Show a sampled response of each server, with its size; of clients, which are named, the request that they send.",
    ),
    "versions": Verb(
        "httpbench.cli.versions:versions",
        "Print the versions of toolchains here, and of the libraries that built rows use, as a Markdown table.",
    ),
    "verify": Verb("httpbench.cli.verify:verify", "Build rows, start them, check each clause of the contract, and stop them."),
    "probe": Verb(
        "httpbench.cli.probe:probe", "Look at how real servers are: do they route, parse, read whole requests, or answer whatever arrives?"
    ),
    "report": Verb("httpbench.cli.report:report", "Show a stored run again."),
    "compare": Verb(
        "httpbench.cli.compare:compare", "Compare two runs: what changed from BASE to HEAD in each row, and what the rounds can tell of it."
    ),
    "runs": Verb("httpbench.cli.runs:runs", "List stored runs, newest first, or delete some of them."),
    "doctor": Verb(
        "httpbench.cli.doctor:doctor",
        "Show the environment, and what on this machine will disturb a measurement, with what to do about it.",
    ),
    "tune": Verb("httpbench.cli.tune:tune", "Set this machine's knobs for measuring, and put them back as they were."),
    "noise": Verb("httpbench.cli.noise:noise", "Find out what this machine can tell apart: measure one server against itself."),
}
"""In the order in which one meets them."""


@click.group(
    cls=LazyGroup,
    verbs=VERBS,
    epilog=EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
@click.version_option(__version__, message="%(prog)s %(version)s")
def cli() -> None:
    """hyperfine for network services: builds, runs, loads, watches and compares servers written in any language."""


def run_command_line() -> None:
    """Runs the command line and ends the process with the right exit code."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # it may be closed
            stream.reconfigure(errors="replace")  # a terminal that knows no «µ» shows a question mark
    _look_into_system_folders()
    try:
        _require_text()
        code = cli.main(prog_name="httpbench", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except HttpbenchError as error:
        _say(error.message, error.hint, error.log_tail)
        sys.exit(error.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output had enough. Python would complain once more when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        sys.exit(0)
    except OSError as error:
        if error.errno not in OUTPUT_ERRORS:
            raise
        _say(f"cannot write the output: {error.strerror}", None, None)
        os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
        sys.exit(1)


def _require_text() -> None:
    """Raises :class:`UsageError` for an argument or a current folder that is not UTF-8: it could be neither stored nor shown."""
    texts = {f"argument {number}": word for number, word in enumerate(sys.argv[1:], 1)}
    with contextlib.suppress(OSError):  # the folder may be gone
        texts["the name of the current folder"] = str(Path.cwd())
    for what, text in texts.items():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise UsageError(f"{what} is not valid UTF-8: {os.fsencode(text)!r}", hint="rename the file, or use a link to it") from None


def _say(message: str, hint: str | None, log_tail: str | None) -> None:
    for line in message.splitlines():
        click.echo(f"{click.style('error:', fg='red', bold=True)} {line}", err=True)
    if log_tail:
        click.echo("\n".join(f"  | {line}" for line in log_tail.splitlines()), err=True)
    if hint:
        click.echo(f"{click.style('hint:', fg='cyan', bold=True)} {hint}", err=True)


def _look_into_system_folders() -> None:
    """Debian keeps servers such as nginx and haproxy where a user's PATH does not lead."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    os.environ["PATH"] = os.pathsep.join([*folders, *(folder for folder in SYSTEM_FOLDERS if folder not in folders)])
