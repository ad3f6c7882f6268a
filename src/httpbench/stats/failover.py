"""Derive from a measurement how a proxy handled the failure of one of its two backends.

The load is an open loop, so the number of requests that are due is known. The load generator reports failed and slow responses in intervals
of 0.1 s, by the time at which they fail or arrive. The second backend's own count of requests shows when the proxy uses it again.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from httpbench.model import Failover, Interval, Load, Measurement, Reason, ReasonKind

INTERVAL_S = 0.1
"""Length of the intervals in which failed and slow responses are counted, in seconds."""

SLOW_S = 0.25
"""Minimum response time of a slow response, in seconds. Responses from a working backend take a few milliseconds."""

BAD_SHARE = 0.1
"""Share of the requests due in an interval above which failed or slow responses make it bad. A proxy that tries a failed backend with a
request now and then has no bad intervals."""

STILL_BAD_S = 1.0
"""Time before the return of the backend in which bad intervals show that the proxy didn't avoid it, in seconds. In a short failure, it is
half of the failure."""

WINDOW_S = 0.5
"""Length of the windows in which the requests of the second backend are counted, in seconds."""

USED_SHARE = 0.5
"""Share of its former requests per second from which on a backend counts as used. Checks of its health are far fewer."""

BALANCED_MIN = 0.25
"""Minimum share of the requests that the second backend must handle before it fails. Otherwise, its failure shows little."""


@dataclass(frozen=True, slots=True)
class Count:
    """The number of requests that a backend has handled so far."""

    at_s: float
    """Time of the count, in seconds since the measurement began."""
    requests: int


@dataclass(frozen=True, slots=True)
class SeenBackend:
    """What was observed of the second backend."""

    failed_at_s: float
    returned_at_s: float
    before: Sequence[Count]
    """Counts before its failure, in order."""
    after: Sequence[Count]
    """Counts after its return, in order."""


def failover(load: Load, measurement: Measurement, seen: SeenBackend) -> Failover:
    """Return how a proxy handled the failure. The load must be one with a fault, and its intervals must have counts of slow responses."""
    assert load.rate_rps is not None and load.fault_s is not None and load.fault_at_s is not None, "the load has a fault"
    broken_s = seen.returned_at_s - seen.failed_at_s
    since = [each for each in measurement.intervals if each.start_s + each.duration_s > seen.failed_at_s]
    failed = sum(each.errors for each in since)
    bad_s = [end for each in since if (end := each.start_s + each.duration_s) <= seen.returned_at_s and _is_bad(each, load.rate_rps)]
    last_s = max(bad_s, default=seen.failed_at_s)
    avoided = last_s <= seen.returned_at_s - min(STILL_BAD_S, broken_s / 2)
    again_s = _used_again_at_s(seen)
    return Failover(
        failed_at_s=seen.failed_at_s,
        returned_at_s=seen.returned_at_s,
        failed=failed,
        failed_share=failed / (load.rate_rps * broken_s),
        slow=sum(each.slow or 0 for each in since),
        avoided_s=max(last_s - seen.failed_at_s, 0.0) if avoided else broken_s,
        avoided=avoided,
        used_again_s=max((measurement.duration_s if again_s is None else again_s) - seen.returned_at_s, 0.0),
        used_again=again_s is not None,
        worst_us=measurement.response_time_us.max if measurement.response_time_us else None,
    )


def problems(load: Load, measurement: Measurement, seen: SeenBackend) -> list[Reason]:
    """Return why the failure of the backend shows nothing about the proxy. The result is empty if it does."""
    assert load.rate_rps is not None, "the load has a fault"
    before = [each for each in measurement.intervals if each.start_s + each.duration_s <= seen.failed_at_s]
    failed = sum(each.errors for each in before)
    if failed > BAD_SHARE * load.rate_rps * seen.failed_at_s:
        return [Reason.of(ReasonKind.FAILED_BEFORE_FAULT, failed=failed)]
    share = _rate_rps(seen.before) / load.rate_rps
    return [] if share >= BALANCED_MIN else [Reason.of(ReasonKind.SECOND_BACKEND_UNUSED, share=share)]


def _is_bad(interval: Interval, rate_rps: float) -> bool:
    """Return whether an interval is bad. A request that timed out counts as failed and as slow, so the greater number counts."""
    return max(interval.errors, interval.slow or 0) > BAD_SHARE * rate_rps * interval.duration_s


def _rate_rps(counts: Sequence[Count]) -> float:
    """Return the median of the requests per second between neighboring counts, or 0 if there are fewer than two counts."""
    rates = [(second.requests - first.requests) / (second.at_s - first.at_s) for first, second in pairwise(counts)]
    return statistics.median(rates) if rates else 0.0


def _used_again_at_s(seen: SeenBackend) -> float | None:
    """Return the time from which on the backend was used again, in seconds since the measurement began, or ``None`` if it wasn't.

    A window with half of the usual requests has the change in its middle, so the change lies between the middles of the last window with
    too few requests and of the next one. A backend that continues after a stall first handles the requests that waited for it. They don't
    show that the proxy uses it again.
    """
    least = USED_SHARE * _rate_rps(seen.before)
    used_s = middle_s = seen.returned_at_s
    is_used = True
    for index, first in enumerate(seen.after):
        last = next((each for each in seen.after[index:] if each.at_s - first.at_s >= WINDOW_S), None)
        if last is None:
            break
        was_used, is_used = is_used, (last.requests - first.requests) / (last.at_s - first.at_s) >= least
        before_s, middle_s = middle_s, (first.at_s + last.at_s) / 2
        if is_used and not was_used:
            used_s = (before_s + middle_s) / 2
    return used_s if is_used and least > 0 else None
