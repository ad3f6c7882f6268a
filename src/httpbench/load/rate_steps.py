"""Compute the steps of a rising rate by merging the generator's intervals into one distribution per rate.

A step's percentiles come from the merged histograms of its intervals, never from the intervals' percentiles. :func:`interval_ms` chooses
intervals that divide a step evenly, so that no interval belongs to two rates. Merging takes about a millisecond per interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.load.distribution import described
from httpbench.model import Interval, Level, Load, Step
from httpbench.quantiles import Samples, together

INTERVALS_MS = (250, 200, 125, 100)
"""Interval lengths in order of preference. The load generator accepts all of them."""


@dataclass(frozen=True, slots=True)
class RecordedInterval:
    """An interval with its histogram."""

    interval: Interval
    samples: Samples


def interval_ms(load: Load) -> int | None:
    """Return an interval length that divides the load's steps evenly, or ``None`` if there are no steps or no length fits."""
    if load.step_s is None:
        return None
    step_ms = round(load.step_s * 1000)
    return next((length for length in INTERVALS_MS if step_ms % length == 0), None)


def steps(load: Load, intervals: Sequence[RecordedInterval]) -> tuple[Step, ...]:
    """Return the result of each offered rate that the load reached before it ended. A load with only one rate has no steps."""
    if load.step_s is None:
        return ()
    return tuple(_step(level, own) for level in load.levels if (own := [part for part in intervals if _within(part.interval, level)]))


def _within(interval: Interval, level: Level) -> bool:
    middle_s = interval.start_s + interval.duration_s / 2
    return level.start_s <= middle_s < level.start_s + level.duration_s


def _step(level: Level, intervals: Sequence[RecordedInterval]) -> Step:
    return Step(
        rate_rps=level.rate_rps,
        start_s=level.start_s,
        duration_s=sum(part.interval.duration_s for part in intervals),
        completed=sum(part.interval.completed for part in intervals),
        errors=sum(part.interval.errors for part in intervals),
        response_time_us=described(together([part.samples for part in intervals])),
    )
