"""The command line: one file per verb; flags in, printing out, nothing else."""

from __future__ import annotations

import sys

__all__ = ["main"]

EXIT_INTERRUPTED = 130


def main() -> None:
    """Runs the command line and ends the process with the right exit code.

    The import is inside, so that Ctrl-C while modules load counts as an interruption too.
    """
    try:
        from httpbench.cli.main import run_command_line
    except KeyboardInterrupt:
        print("\ninterrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)
    run_command_line()
