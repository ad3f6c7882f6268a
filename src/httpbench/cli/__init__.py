"""The command line: one file per verb; options in, printing out, nothing else."""

from __future__ import annotations

import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Runs the command line and ends the process with its exit code.

    Ctrl-C while modules load waits until they are loaded: within an extension module it would become any other error.
    """
    try:
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            from httpbench.cli.main import run_command_line
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
    except KeyboardInterrupt:
        from httpbench.cli.exit_codes import ExitCode

        print("\ninterrupted", file=sys.stderr)
        sys.exit(ExitCode.INTERRUPTED)
    run_command_line()
