"""What was measured over time, in slices that a chart can show: not more than it has room for."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from httpbench.model import Interval, Usage

SECOND = 0.95  # with some room for samples that come early
SLICES_MAX = 60
"""Of one line. More are joined."""


@dataclass(frozen=True, slots=True)
class Served:
    """Responses of one slice, or of several that are joined."""

    at_s: float
    rate_rps: float
    offered_rps: float | None
    p50_us: float | None
    """The highest of the slices that are joined, as of the other percentiles: percentiles have no mean."""
    p90_us: float | None
    p99_us: float | None
    p99_9_us: float | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """CPU, memory and throttling of one slice."""

    at_s: float
    cores: float
    """Mean."""
    rss_bytes: int
    """Highest."""
    throttled_cores: float | None = None
    """Time for which a quota stopped it, in cores' worth. ``None``: no quota."""


def served(intervals: Sequence[Interval], slices_max: int = SLICES_MAX) -> list[Served]:
    """At most so many slices, in order."""
    each = math.ceil(len(intervals) / slices_max) or 1
    return [_joined(intervals[start : start + each]) for start in range(0, len(intervals), each)]


def used(usage: Usage) -> list[Used]:
    """At most ``SLICES_MAX`` slices of about a second or more: the kernel counts in ticks of 10 ms, which shorter slices would show as
    spikes. A short trial has four slices all the same."""
    return list(_used(usage)) if usage.samples else []


def _used(usage: Usage) -> Iterator[Used]:
    length_s = usage.samples[-1].at_s
    slice_s = max(min(SECOND, length_s / 4), length_s / SLICES_MAX)
    begin_s, cpu_s, before_s, most, stopped_s = 0.0, 0.0, 0.0, 0, 0.0
    for sample, throttled_s in zip_longest(usage.samples, usage.throttled_samples_s, fillvalue=None):
        assert sample is not None, "throttled time belongs to a sample"
        cpu_s += sample.cpu_cores * (sample.at_s - before_s)
        stopped_s += throttled_s or 0.0
        before_s, most = sample.at_s, max(most, sample.rss_bytes)
        if before_s - begin_s >= slice_s > 0:
            length = before_s - begin_s
            yield Used(before_s, cpu_s / length, most, None if throttled_s is None else stopped_s / length)
            begin_s, cpu_s, most, stopped_s = before_s, 0.0, 0, 0.0


def _joined(parts: Sequence[Interval]) -> Served:
    length_s = sum(part.duration_s for part in parts)
    offered = [part.offered_rps for part in parts if part.offered_rps is not None]
    return Served(
        at_s=parts[0].start_s,
        rate_rps=sum(part.completed for part in parts) / length_s if length_s > 0 else 0.0,
        offered_rps=sum(offered) / len(offered) if offered else None,
        p50_us=_highest([part.p50_us for part in parts]),
        p90_us=_highest([part.p90_us for part in parts]),
        p99_us=_highest([part.p99_us for part in parts]),
        p99_9_us=_highest([part.p99_9_us for part in parts]),
    )


def _highest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
