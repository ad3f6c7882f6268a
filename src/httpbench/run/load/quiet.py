"""Looks at a target that is connected but gets no requests: one that is busy all the same polls.

Before the load its start-up may still be going on, after the load a collection of garbage or the rest of the requests. Polling goes on
at both times, so the less busy look counts. A target that is quiet at the first look gets no second one.
"""

from __future__ import annotations

import contextlib
import socket

from httpbench import sample
from httpbench.run.trial.start import RunningTarget

CONNECT_LIMIT_S = 0.2


def polling_threads(running: RunningTarget) -> float | None:
    """Busy threads of a target that waits for requests over one connection; ``None`` if they cannot be seen."""
    if running.guard_pid is None:
        return None
    with contextlib.suppress(OSError), socket.create_connection((running.host, running.port), CONNECT_LIMIT_S):
        return sample.polling_threads(running.guard_pid)
    return None


def polling_threads_again(running: RunningTarget, before: float | None) -> float | None:
    """After the load: the less busy look of both."""
    if before is None or before <= sample.QUIET_MAX:
        return before
    after = polling_threads(running)
    return before if after is None else min(before, after)
