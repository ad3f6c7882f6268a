"""The command line: one file per verb; options in, printing out, nothing else."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line and ends the process with its exit code.

    The import is inside, so that Ctrl-C while modules load counts as an interruption too.
    """
    try:
        from httpbench.cli.main import run_command_line
    except KeyboardInterrupt:
        from httpbench.cli.exit_codes import ExitCode

        print("\ninterrupted", file=sys.stderr)
        sys.exit(ExitCode.INTERRUPTED)
    run_command_line()
