"""Check whether a target polls, which means that it is busy while it has a connection but no requests.

Before the load, the target may still be starting up. After the load, it may be collecting garbage or finishing requests. A target that
polls is busy both before and after the load, so the lower of the two results is used. A target that is quiet at the first check isn't
checked again.
"""

from __future__ import annotations

import contextlib
import socket

from httpbench import sample
from httpbench.isolate import ProcessTree
from httpbench.run.trial.running import RunningTarget

CONNECT_LIMIT_S = 0.2


def polling_threads(running: RunningTarget) -> float | None:
    """Return the number of busy threads while the target waits for requests on one connection, or ``None`` if unknown."""
    if not isinstance(running.program, ProcessTree):
        return None
    with contextlib.suppress(OSError), socket.create_connection((running.host, running.port), CONNECT_LIMIT_S):
        return sample.polling_threads(running.program.guard_pid)
    return None


def polling_threads_again(running: RunningTarget, before: float | None) -> float | None:
    """Check again after the load, and return the lower of the two numbers of busy threads."""
    if before is None or before <= sample.QUIET_MAX:
        return before
    after = polling_threads(running)
    return before if after is None else min(before, after)
