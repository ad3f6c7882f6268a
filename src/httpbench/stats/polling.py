"""Whether a target polls: uses CPU time while it has nothing to do, so that a full core does not show that it is full.

A server that asks its sockets or rings again and again (``epoll_wait`` with a timeout of 0, a kernel thread of io_uring) uses a whole core
under any load, and without one. Each trial looks which threads are busy without requests. What cannot be seen so: a server that polls for a
moment after each request and sleeps when none comes.
"""

from __future__ import annotations

from httpbench.model import Verdict, VerdictKind
from httpbench.stats.evidence import Evidence, generator_is_nearly_busy

POLLING_THREADS_MIN = 0.5
"""Busy threads without requests from which a target polls: a thread that polls is always busy, any other hardly ever."""


def polling(evidence: Evidence) -> str | None:
    """That a target polls, and how much, in words; ``None``: it does not, or that is unknown."""
    busy = evidence.target_polling_threads
    return None if busy is None or busy < POLLING_THREADS_MIN else f"the target polls ({busy:.2f} threads busy without requests)"


def limit_of_polling(evidence: Evidence, said: str) -> Verdict | None:
    """Of a target that looks full: whether that is only because it polls. ``said``: how full each was."""
    found = polling(evidence)
    if found is None:
        return None
    reason = f"{found}, so its CPU time does not show whether it is full ({said})"
    if generator_is_nearly_busy(evidence):
        return Verdict(kind=VerdictKind.BOTH, reasons=(f"the generator was nearly full, and {reason}",))
    return Verdict(kind=VerdictKind.UNKNOWN, reasons=(reason,))
