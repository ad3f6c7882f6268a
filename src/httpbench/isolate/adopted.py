"""Ends the processes of a tree whose keeper and guard were killed in the same instant.

The harness is the *child subreaper* above every keeper: when both are gone, what they guarded becomes a child of the harness. It is told
from other children by its session, because each command of a tree begins one. A command that only prints a version has a session too and
would be ended as well; then its version is unknown.
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
    """Makes this process the parent of processes below it that lose theirs."""
    guard.libc.prctl(guard.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def end_adopted(keepers: Collection[int]) -> None:
    """Sends SIGKILL until no adopted process is left; ``keepers`` are those of trees that still run."""
    deadline = time.monotonic() + guard.KILL_LIMIT_S
    while (left := _adopted(keepers)) and time.monotonic() < deadline:
        for pid in left:
            guard.send_signal(pid, signal.SIGKILL)
        time.sleep(0.002)


def _adopted(keepers: Collection[int]) -> list[int]:
    own = os.getsid(0)
    return [pid for pid in guard.lister()(os.getpid()) or () if pid not in keepers and _session(pid) not in (own, None)]


def _session(pid: int) -> int | None:
    """``None``: it is gone. Children of a process that is a zombie already have another parent."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    state, _, _, session = stat[stat.rindex(b")") + 2 :].split(None, 4)[:4]  # the name before it may hold spaces and parentheses
    return None if state == ZOMBIE else int(session)
