"""End the processes of a tree when its keeper and its guard were killed at the same moment.

The harness is the *child subreaper* above every keeper. When keeper and guard are gone, the processes they guarded become children of the
harness. Their session tells them apart from the harness's other children, because each command of a tree starts a session of its own. A
short command that prints a version also has its own session and may be ended too; its version is then unknown.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Collection
from pathlib import Path

from httpbench.isolate import guard

ZOMBIE = b"Z"


def adopt_orphans() -> None:
    """Make this process the new parent of any descendant that loses its parent."""
    guard.libc.prctl(guard.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_adopted(keepers: Collection[int]) -> None:
    """Send SIGKILL until no adopted process is left. ``keepers`` belong to trees that still run and are left alone."""
    deadline = time.monotonic() + guard.KILL_LIMIT_S
    while (left := _adopted(keepers)) and time.monotonic() < deadline:
        for pid in left:
            guard.send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _adopted(keepers: Collection[int]) -> list[int]:
    own = os.getsid(0)
    return [pid for pid in guard.lister()(os.getpid()) or () if pid not in keepers and _session(pid) not in (own, None)]


def _session(pid: int) -> int | None:
    """Return the session of a process, or ``None`` if it is gone. A zombie counts as gone: its children have a new parent by then."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    state, _, _, session = stat[stat.rindex(b")") + 2 :].split(None, 4)[:4]  # the name before it may contain spaces and parentheses
    return None if state == ZOMBIE else int(session)
