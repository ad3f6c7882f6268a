"""Run a short command for its output (``git``, ``apt-cache``, ``ldc2 --version``), with limits on its time and its output."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence

from httpbench.host import inherited

PRINTED_BYTES_MAX = 16 << 20
"""Maximum size of what a command prints, in bytes. Who wrote a commit also decides how much ``git log`` prints."""
PART_BYTES = 1 << 16
"""Maximum number of bytes that are read at once."""


class _TooMuch(Exception):
    """A command printed more than ``PRINTED_BYTES_MAX``."""


def capture(argv: Sequence[str], timeout_s: float = 10.0, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str] | None:
    """Run a command in the C locale without input. ``env``: more variables.

    Return ``None`` if it can't start, doesn't end in time, or prints more than ``PRINTED_BYTES_MAX``.

    The command gets its own session, so that its child processes can be killed with it. If a child of a wrapper script survived, it would
    keep our pipe open.
    """
    try:
        process = subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            env={**inherited.for_builds(), "LC_ALL": "C", **(env or {})},
        )
    except OSError:
        return None
    with process:
        try:
            stdout, stderr = _printed(process, timeout_s)
        except BaseException as error:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            if isinstance(error, subprocess.TimeoutExpired | _TooMuch):
                return None
            raise
    return subprocess.CompletedProcess(argv, process.returncode, stdout, stderr)


def _printed(process: subprocess.Popen[bytes], timeout_s: float) -> tuple[str, str]:
    """Return what a process prints to stdout and stderr until it ends.

    Raises :class:`subprocess.TimeoutExpired` if it doesn't end in time, and :class:`_TooMuch` if it prints too much.
    """
    assert process.stdout is not None and process.stderr is not None
    end_s = time.monotonic() + timeout_s
    found = {process.stdout: bytearray(), process.stderr: bytearray()}
    with selectors.DefaultSelector() as selector:
        for pipe in found:
            selector.register(pipe, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(max(end_s - time.monotonic(), 0))
            if not ready or time.monotonic() > end_s:
                raise subprocess.TimeoutExpired(process.args, timeout_s)
            for key, _ in ready:
                part = os.read(key.fd, PART_BYTES)
                found[key.fileobj] += part  # type: ignore[index]
                if not part:
                    selector.unregister(key.fileobj)
            if sum(map(len, found.values())) > PRINTED_BYTES_MAX:
                raise _TooMuch
    process.wait(max(end_s - time.monotonic(), 0))
    stdout, stderr = (content.decode(errors="replace").replace("\r\n", "\n").replace("\r", "\n") for content in found.values())
    return stdout, stderr
