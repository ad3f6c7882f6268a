"""End the processes of a tree after its keeper and its guard were killed at the same moment.

The harness is the *child subreaper* above every keeper. When a keeper and its guard are gone, the processes they guarded become children of
the harness. We recognize them by their session: each command of a tree starts its own session, unlike most other children of the harness. A
short command that prints a version also has its own session and might be killed, too. The version is then unknown.
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


def end_adopted(keepers: Collection[int]) -> None:
    """Send SIGKILL to adopted processes until none is left. ``keepers`` are the keepers of running trees, which aren't killed."""
    deadline = time.monotonic() + guard.KILL_LIMIT_S
    while (left := _adopted(keepers)) and time.monotonic() < deadline:
        for pid in left:
            guard.send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _adopted(keepers: Collection[int]) -> list[int]:
    """Return the adopted processes. Zombies don't count, because they have ended and their children have a new parent."""
    own, found = os.getsid(0), []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.Error, ProcessLookupError):
            if child.pid not in keepers and child.status() != psutil.STATUS_ZOMBIE and os.getsid(child.pid) != own:
                found.append(child.pid)
    return found
