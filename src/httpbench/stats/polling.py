"""Detect targets that poll: they use CPU time while they have nothing to do, so a full core doesn't mean that they are at their limit.

A server that checks its sockets or rings in a loop (``epoll_wait`` with a timeout of 0, a kernel thread of io_uring) uses a whole core
under any load, or none. Each trial counts the threads that are busy without requests. This doesn't detect a server that polls for a moment
after each request and then sleeps.
"""

from __future__ import annotations

from typing import Any

from httpbench.model import Reason, ReasonKind, Verdict, VerdictKind
from httpbench.stats.evidence import Evidence, generator_is_nearly_busy

POLLING_THREADS_MIN = 0.5
"""Number of threads busy without requests at which a target counts as polling. A polling thread is always busy, any other one hardly ever.
"""


def limit_of_polling(evidence: Evidence, programs: list[dict[str, Any]]) -> Verdict | None:
    """Return the verdict if the target looks full only because it polls, else ``None``. ``programs``: how full each program was."""
    busy = evidence.observed.target_polling_threads
    if busy is None or busy < POLLING_THREADS_MIN:
        return None
    is_nearly_busy = generator_is_nearly_busy(evidence)
    reason = Reason.of(ReasonKind.POLLS, threads=busy, generator_is_nearly_full=is_nearly_busy, programs=programs)
    return Verdict(kind=VerdictKind.BOTH if is_nearly_busy else VerdictKind.UNKNOWN, reasons=(reason,))
