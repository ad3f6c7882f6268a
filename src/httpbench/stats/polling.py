"""Whether a target polls: uses CPU time while it has nothing to do, so that a full core does not show that it is full.

A server that asks its sockets or rings again and again (``epoll_wait`` with a timeout of 0, a kernel thread of io_uring) uses a whole core
under any load, and without one. Each trial looks which threads are busy without requests. What cannot be seen so: a server that polls for a
moment after each request and sleeps when none comes.
"""

from __future__ import annotations

from typing import Any

from httpbench.model import Reason, ReasonKind, Verdict, VerdictKind
from httpbench.stats.evidence import Evidence, generator_is_nearly_busy

POLLING_THREADS_MIN = 0.5
"""Busy threads without requests from which a target polls: a thread that polls is always busy, any other hardly ever."""


def limit_of_polling(evidence: Evidence, programs: list[dict[str, Any]]) -> Verdict | None:
    """Return the verdict if the target looks full only because it polls, else ``None``. ``programs``: how full each program was."""
    busy = evidence.observed.target_polling_threads
    if busy is None or busy < POLLING_THREADS_MIN:
        return None
    is_nearly_busy = generator_is_nearly_busy(evidence)
    reason = Reason.of(ReasonKind.POLLS, threads=busy, generator_is_nearly_full=is_nearly_busy, programs=programs)
    return Verdict(kind=VerdictKind.BOTH if is_nearly_busy else VerdictKind.UNKNOWN, reasons=(reason,))
