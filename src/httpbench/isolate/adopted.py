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
    dead_before: set[int] = set()
    while time.monotonic() < deadline:
        has_ended = guard_pid is None or _has_ended(guard_pid)  # check before listing, because a guard that ends leaves orphans
        alive, dead = _adopted(keepers)
        if has_ended and not alive and dead <= dead_before:
            return
        dead_before = dead
        for pid in alive:
            guard.send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _has_ended(pid: int) -> bool:
    import psutil

    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def _adopted(keepers: Collection[int]) -> tuple[set[int], set[int]]:
    """Return the adopted processes that are running, and those that have ended.

    A process that ended during this call was perhaps still the parent of others when they were listed. Only the next call finds those.
    """
    import psutil

    own = os.getsid(0)
    alive: set[int] = set()
    dead: set[int] = set()
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if child.pid not in keepers and os.getsid(child.pid) != own:
                (dead if child.status() == psutil.STATUS_ZOMBIE else alive).add(child.pid)
    return alive, dead
