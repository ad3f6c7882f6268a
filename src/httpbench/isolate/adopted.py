"""End the processes of a tree after its keeper and its guard were killed at the same moment.

The harness is the *child subreaper* above every keeper. When a keeper and its guard are gone, the processes they guarded become children of
the harness. We recognize them by their session: each command of a tree starts its own session, but most other children of the harness
don't. A short command that prints a version also has its own session, so it might be killed, too. In that case, the version is unknown.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Collection

import psutil

from httpbench.isolate import guard


def adopt_orphans() -> None:
    """Make this process the new parent of any descendant that loses its parent."""
    guard.libc.prctl(guard.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_adopted(keepers: Collection[int], guard_pid: int | None) -> None:
    """Send SIGKILL to adopted processes until the guard has ended and no adopted process is left.

    Args:
        keepers: The keepers of running trees, which aren't killed.
        guard_pid: The guard. Its children become children of the harness only after it has ended. ``None`` if it never started.
    """
    deadline = time.monotonic() + guard.KILL_LIMIT_S
    while time.monotonic() < deadline:
        has_ended = guard_pid is None or _has_ended(guard_pid)  # check before listing, because a guard that ends leaves orphans
        left = _adopted(keepers)
        if has_ended and not left:
            return
        for pid in left:
            guard.send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _has_ended(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _adopted(keepers: Collection[int]) -> list[int]:
    """Return the adopted processes. Zombies don't count, because they have ended and their children have a new parent."""
    own, found = os.getsid(0), []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if child.pid not in keepers and child.status() != psutil.STATUS_ZOMBIE and os.getsid(child.pid) != own:
                found.append(child.pid)
    return found
