"""Measurements of how a proxy handles the failure of one of its two backends."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Failover(Frozen):
    """How a proxy handled the failure of one of its two backends.

    A response is slow if it takes longer than 250 ms. An interval of 0.1 s is bad if the number of requests that fail or of slow responses
    within it is more than a tenth of the number of requests that are due.
    """

    failed_at_s: float
    """Time from the start of the measurement until the backend failed, in seconds."""
    returned_at_s: float
    """Time from the start of the measurement until the backend was back, in seconds."""
    failed: int
    """Number of requests that failed between the failure of the backend and the end of the measurement."""
    failed_share: float
    """``failed``, relative to the number of requests that were due between the failure and the return of the backend."""
    slow: int
    """Number of slow responses in the same time as ``failed``, including requests that timed out."""
    avoided_s: float
    """Time from the failure of the backend to the end of the last bad interval before its return, in seconds. 0: no interval was bad. If
    ``avoided`` is false, this is the time until the return, a lower bound."""
    avoided: bool
    """Whether the proxy avoided the failed backend: whether the last second before its return had no bad intervals. If it failed for less
    than two seconds, this is the second half of that time."""
    used_again_s: float
    """Time from the return of the backend until it handled at least half as many requests per second as before its failure, and continued
    to do so, in seconds. If ``used_again`` is false, this is the time until the end of the measurement, a lower bound."""
    used_again: bool
    """Whether the proxy used the backend again after its return."""
    worst_us: float | None = None
    """Longest response time of a correct response, in µs. A request that timed out counts as the time waited. Null: not reported."""
