"""Run a short command for its output (``git``, ``apt-cache``, ``ldc2 --version``), with a time limit."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence

from httpbench.host import inherited


def capture(argv: Sequence[str], timeout_s: float = 10.0, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str] | None:
    """Run a command in the C locale without input. Return ``None`` if it can't start or doesn't end in time. ``env``: more variables.

    The command gets its own session, so that its child processes can be killed with it. If a child of a wrapper script survived, it would
    keep our pipe open.
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
            env={**inherited.for_builds(), "LC_ALL": "C", **(env or {})},
        )
    except OSError:
        return None
    with process:
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired):
                return None
            raise
    return subprocess.CompletedProcess(argv, process.returncode, stdout, stderr)
