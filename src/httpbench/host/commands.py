"""Run a short command for its output (``git``, ``apt-cache``, ``ldc2 --version``), with a time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.host import inherited


@dataclass(frozen=True, slots=True)
class Captured:
    """The output of a command."""

    code: int
    stdout: str
    stderr: str


def capture(argv: Sequence[str], timeout_s: float = 10.0) -> Captured | None:
    """Run a command in the C locale without input. Returns ``None`` if it can't start or doesn't end in time.

    It gets its own session so that its child processes end with it. Otherwise, the child of a wrapper script would hold our pipe open.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            start_new_session=True,
            env={**inherited.for_builds(), "LC_ALL": "C", "GIT_OPTIONAL_LOCKS": "0"},
        )
    except OSError:
        return None
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            _kill(process.pid)
            return None
        except BaseException:
            _kill(process.pid)
            raise
    return Captured(process.returncode, stdout, stderr)


def _kill(group: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)
