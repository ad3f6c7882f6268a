"""Describe what a target does beyond the highest rate that it holds, and how long it takes to recover.

After a search, each of a few trials offers more than the found rate and then half of it, without a break and over the same connections.
Requests that can't be sent in time wait, as users would, and their response times include the wait. The time to recover therefore includes
the time to work off this queue. If a target stays at its capacity C, a queue that has grown for t seconds at a rate R above C is gone after
t · (R − C) / (C − R/2) seconds, unless waiting requests time out before.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence

from pydantic import Field

from httpbench.model import Bound, Figure, Frozen, Interval, Load, Measurement, Search, Trial, VerdictKind
from httpbench.stats.disturbance import disturbance
from httpbench.stats.validity import POISSON_DEVIATIONS

TRIALS = 3

AFTERWARDS = 0.5
"""Rate after the overload, relative to the rate that the search found."""

WATCHED_MIN_S = 2.0
"""Minimum time for which the target is watched after the overload, in seconds."""

QUEUES_WATCHED = 2.0
"""Time for which the target is watched, relative to the time that it takes to work off the longest queue."""

ACHIEVED_MIN = 0.9
"""Minimum share of the offered requests that a recovered target responds to. An interval may have fewer responses by chance."""

KNOWN: dict[Figure, tuple[str, ...]] = {
    "max": ("p99_9_us", "p99_us", "p90_us", "p50_us"),
    "p99_99": ("p99_9_us", "p99_us", "p90_us", "p50_us"),
    "p99_9": ("p99_9_us", "p99_us", "p90_us", "p50_us"),
    "p99": ("p99_us", "p90_us", "p50_us"),
    "p95": ("p90_us", "p50_us"),
    "p90": ("p90_us", "p50_us"),
    "p75": ("p50_us",),
    "p50": ("p50_us",),
    "mean": ("p50_us",),
}
"""Percentiles of an interval that stand for each figure of a service level. The first known one counts, because an interval may have too
few responses for high percentiles. Intervals have no times to the first byte."""


class Overload(Frozen):
    """What a target does at more than the highest rate that it holds, as medians over trials."""

    offered_rps: float
    """Rate offered during the overload, in requests/s."""
    after_rps: float
    """Rate offered after the overload, in requests/s."""
    trials: int = Field(ge=1)
    """Number of trials that count. Failed and disturbed trials don't count."""
    goodput_rps: float
    """Correct responses per second in the second half of the overload."""
    p99_us: float | None
    """p99 of the response times during the overload, in µs. Null: too few responses."""
    failed_share: float
    """Share of the requests during the overload that failed or got a wrong response, 0 to 1."""
    recovery_s: float | None
    """Time from the end of the overload until the target met the service level for the rest of the trial, in seconds. Null: it didn't
    recover in at least half of the trials."""
    resolution_s: float
    """Length of the intervals in which recovery is observed, in seconds."""
    watched_s: float
    """Time for which the target was watched after the overload, in seconds."""


def overload_load(search: Search, first: Load, rate_rps: float) -> Load | None:
    """Return the load of a trial beyond ``rate_rps``, or ``None`` if the search doesn't ask for an overload.

    The warm-up already offers the higher rate, so the overload lasts longer than the search's trials.
    """
    if search.overload is None:
        return None
    offered, after = search.overload * rate_rps, AFTERWARDS * rate_rps
    step_s = max(round(search.duration_s, 1), 0.1)  # the load generator divides a step into whole tenths of a second
    queued_s = min((first.warmup_s + step_s) * (search.overload - 1), first.timeout_s)
    watched_s = max(QUEUES_WATCHED * queued_s / (1 - AFTERWARDS), WATCHED_MIN_S, step_s)
    changes = {
        "rate_from_rps": offered,
        "rate_rps": after,
        "rate_step_rps": offered - after,
        "step_s": step_s,
        "duration_s": step_s + math.ceil(watched_s),
    }
    return first.model_copy(update=changes)


def is_beyond(load: Load) -> bool:
    """Return whether a load belongs to a trial beyond the highest rate."""
    return load.rate_from_rps is not None


def overload(search: Search, trials: Sequence[Trial]) -> Overload | None:
    """Return what the target did beyond the highest rate, or ``None`` if no trial shows it."""
    counting = [(trial.plan.load, trial.measurement) for trial in trials if is_beyond(trial.plan.load) and _counts(trial)]
    known = [(load, measured) for load, measured in counting if measured is not None and len(measured.steps) == load.steps]
    if not known:
        return None
    load = known[0][0]
    steps = [measured.steps[0] for _, measured in known]
    recoveries = [_recovery_s(search, each, measured) for each, measured in known]
    recovered = sorted(each for each in recoveries if each is not None)
    p99s = [step.response_time_us.p99 for step in steps if step.response_time_us.p99 is not None]
    return Overload(
        offered_rps=steps[0].rate_rps,
        after_rps=load.rate_rps or 0.0,
        trials=len(known),
        goodput_rps=statistics.median(_goodput_rps(each, measured) for each, measured in known),
        p99_us=statistics.median(p99s) if len(p99s) == len(steps) else None,
        failed_share=statistics.median(_failed_share(step.completed, step.errors) for step in steps),
        recovery_s=recovered[(len(known) - 1) // 2] if 2 * len(recovered) > len(known) else None,
        resolution_s=max(interval.duration_s for _, measured in known for interval in measured.intervals),
        watched_s=load.duration_s - (load.step_s or 0.0),
    )


def _counts(trial: Trial) -> bool:
    return trial.verdict.kind is not VerdictKind.FAILED and not disturbance(trial)


def _failed_share(completed: int, errors: int) -> float:
    return errors / (completed + errors) if completed + errors else 0.0


def _goodput_rps(load: Load, measured: Measurement) -> float:
    """Return the correct responses per second in the second half of the overload.

    At its start, the load generator receives responses to requests of the warm-up, which don't count.
    """
    end_s = load.step_s or 0.0
    late = [each for each in measured.intervals if end_s / 2 <= each.start_s + each.duration_s / 2 < end_s]
    return sum(each.completed for each in late) / sum(each.duration_s for each in late)


def _recovery_s(search: Search, load: Load, measured: Measurement) -> float | None:
    """Return the time from the end of the overload until the first interval from which on all intervals meet the service level."""
    begin_s = load.step_s or 0.0
    after = [interval for interval in measured.intervals if interval.start_s >= begin_s - interval.duration_s / 2]
    recovered_s = None
    for interval in reversed(after):
        if not _meets(search, load, interval):
            break
        recovered_s = max(interval.start_s - begin_s, 0.0)
    return recovered_s


def _meets(search: Search, load: Load, interval: Interval) -> bool:
    offered = (load.rate_rps or 0.0) * interval.duration_s
    if interval.completed < ACHIEVED_MIN * offered - POISSON_DEVIATIONS * math.sqrt(offered):
        return False
    if _failed_share(interval.completed, interval.errors) > search.level.failed_share_max:
        return False
    return all(_is_within(bound, interval) for bound in search.level.bounds)


def _is_within(bound: Bound, interval: Interval) -> bool:
    known = (getattr(interval, name) for name in KNOWN.get(bound.figure, ()))
    value: float | None = next((each for each in known if each is not None), None)
    return value is not None and value < bound.limit_us
