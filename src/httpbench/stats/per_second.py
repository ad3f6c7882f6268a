"""Summarize how many responses and bytes a measurement received in each full second.

If the load generator doesn't report this summary, httpbench computes it from the generator's intervals. Percentiles are computed by the
nearest-rank method. Over thirty seconds, for example, p1 and p2.5 equal the minimum.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from httpbench.model import Interval, Measurement, OverSeconds, PerSecond

TOLERANCE_S = 0.001


def per_second(measurement: Measurement) -> PerSecond | None:
    """Return the summary; ``None`` if the generator reports neither a summary nor intervals that can be grouped into full seconds."""
    if measurement.per_second is not None:
        return measurement.per_second
    seconds = _seconds(measurement.intervals)
    if not seconds:
        return None
    has_sizes = all(part.bytes_received is not None for parts in seconds for part in parts)
    return PerSecond(
        seconds=len(seconds),
        requests=over_seconds([sum(part.completed for part in parts) for parts in seconds]),
        bytes_received=over_seconds([sum(part.bytes_received or 0 for part in parts) for parts in seconds]) if has_sizes else None,
    )


def over_seconds(counts: Sequence[int]) -> OverSeconds:
    """Return the statistics of these counts, including their population standard deviation."""
    ascending = sorted(counts)
    return OverSeconds(
        mean=statistics.fmean(counts),
        stddev=statistics.pstdev(counts),
        min=ascending[0],
        p1=_at(ascending, 1),
        p2_5=_at(ascending, 2.5),
        p50=_at(ascending, 50),
        p97_5=_at(ascending, 97.5),
    )


def _at(ascending: Sequence[int], percentile: float) -> int:
    return ascending[math.ceil(percentile / 100 * len(ascending) - 1e-9) - 1]


def _seconds(intervals: Sequence[Interval]) -> list[list[Interval]]:
    """Group the intervals by second, without incomplete seconds; empty if an interval extends from one second into the next."""
    seconds: dict[int, list[Interval]] = {}
    for part in intervals:
        second = math.floor(part.start_s + TOLERANCE_S)
        if part.start_s + part.duration_s > second + 1 + TOLERANCE_S:
            return []
        seconds.setdefault(second, []).append(part)
    return [parts for parts in seconds.values() if sum(part.duration_s for part in parts) >= 1 - TOLERANCE_S]
