"""The command line. Each verb has a file that turns options into calls and prints the results."""

from __future__ import annotations

import gc
import signal
import sys

__all__ = ["main"]


def main() -> None:
    """Run the command line and end the process with its exit code.

    Ctrl-C takes effect only after the imports, because an interrupted import of an extension module can raise something other than
    ``KeyboardInterrupt``.
    """
    gc.set_threshold(50_000)  # imports create many objects and hardly any garbage, so searching it takes a tenth of their time
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
