"""Find slow intervals of a measurement, and what took the target's CPU time in them: a CPU quota, the hypervisor, or its database.

An interval is slow if it has less than half of the responses per second of the median interval. A cause counts only if it took
clearly more time than usual from exactly this interval: at least half of the lost share. Other causes, such as garbage collection in the
target, aren't measured, so many slow intervals have no known cause.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby

from httpbench.model import Cores, Interval, Load, Observed, Sample, Trial, Usage

SLOW_MAX = 0.5
"""Maximum throughput of a slow interval, as a share of the median."""
RESPONSES_MIN = 64
"""Minimum number of responses in a usual interval. If there are fewer, half as many can be due to chance: with 64, half as many are four
standard deviations less (Poisson)."""
EXPLAINED_MIN = 0.5
"""Minimum share of the lost time that a cause must account for."""
DATABASE_FULL = 0.9
"""Minimum CPU use of a database that counts as full, as a share of its physical cores."""
INTERVALS_MIN = 4
"""Minimum number of intervals, because fewer have no meaningful median."""


class StallCause(StrEnum):
    THROTTLED = "throttled"  # by its CPU quota
    STOLEN = "stolen"  # the hypervisor ran other virtual machines
    DATABASE = "database"  # the database used all its cores, and the target was idle


@dataclass(frozen=True, slots=True)
class SlowTime:
    """Successive slow intervals."""

    start_s: float
    end_s: float
    rps: float
    """Responses per second."""
    cause: StallCause | None
    """What caused it. ``None``: unknown."""


def slow_times(trial: Trial) -> list[SlowTime]:
    """Return the slow times of a trial, in order.

    There are none if the load changes by itself. In slices, each window is an interval.
    """
    intervals = trial.measurement.intervals if trial.measurement else ()
    if len(intervals) < INTERVALS_MIN or _changes(trial.plan.load):
        return []
    usual_rps = statistics.median(map(_rps, intervals))

    def is_slow(part: Interval) -> bool:
        return _rps(part) < SLOW_MAX * usual_rps and usual_rps * part.duration_s >= RESPONSES_MIN

    slow = [list(several) for are_slow, several in groupby(intervals, key=is_slow) if are_slow]
    taken = _taken(trial.observed, trial.plan.cores) if slow else {}
    return [_slow_time(parts, usual_rps, taken) for parts in slow]


def _changes(load: Load) -> bool:
    return load.step_s is not None or load.fault is not None or load.is_of_startup


def _rps(part: Interval) -> float:
    return part.completed / part.duration_s if part.duration_s > 0 else 0.0


def _slow_time(parts: Sequence[Interval], usual_rps: float, taken: Mapping[StallCause, Sequence[_Share]]) -> SlowTime:
    start_s, end_s = parts[0].start_s, parts[-1].start_s + parts[-1].duration_s
    rps = sum(part.completed for part in parts) / (end_s - start_s)
    lost = 1 - rps / usual_rps
    excess = {cause: _during(times, start_s, end_s) - _usual(times) for cause, times in taken.items()}
    causes = [cause for cause, share in excess.items() if share >= EXPLAINED_MIN * lost]
    return SlowTime(start_s, end_s, rps, max(causes, key=excess.__getitem__, default=None))


@dataclass(frozen=True, slots=True)
class _Share:
    """The share of time that a cause took from the target between two samples."""

    start_s: float
    end_s: float
    share: float


def _taken(observed: Observed, cores: Cores) -> dict[StallCause, list[_Share]]:
    """Return what each measured cause took from the target over time."""
    target, database = observed.target_usage, observed.database_usage
    found = {}
    if target and target.throttled_samples_s:
        found[StallCause.THROTTLED] = _shares(target.samples, target.throttled_samples_s, len(cores.target))
    if target and target.stolen_samples_s:
        found[StallCause.STOLEN] = _shares(target.samples, target.stolen_samples_s, len(cores.target))
    if target and database and cores.database and not cores.database_shared:
        found[StallCause.DATABASE] = _waiting(target, database, cores)
    return found


def _shares(samples: Sequence[Sample], times_s: Sequence[float], cpus: int) -> list[_Share]:
    starts = [0.0, *(sample.at_s for sample in samples)]
    return [
        _Share(start_s, sample.at_s, min(time_s / (sample.at_s - start_s) / max(cpus, 1), 1.0))
        for start_s, sample, time_s in zip(starts, samples, times_s, strict=False)
        if sample.at_s > start_s
    ]


def _waiting(target: Usage, database: Usage, cores: Cores) -> list[_Share]:
    """Return the idle share of the target's usual CPU time while its database was full, else 0."""
    usual = statistics.median([sample.cpu_cores for sample in target.samples] or [0.0])
    full = DATABASE_FULL * cores.physical(cores.database)
    starts = [0.0, *(sample.at_s for sample in target.samples)]
    found = []
    for start_s, sample in zip(starts, target.samples, strict=False):
        near = min(database.samples, key=lambda one: abs(one.at_s - sample.at_s), default=None)
        is_full = near is not None and near.cpu_cores >= full
        idle = max(0.0, 1 - sample.cpu_cores / usual) if usual else 0.0
        found.append(_Share(start_s, sample.at_s, idle if is_full else 0.0))
    return found


def _during(times: Sequence[_Share], start_s: float, end_s: float) -> float:
    """Return the mean share between two moments."""
    shared = [(max(0.0, min(one.end_s, end_s) - max(one.start_s, start_s)), one.share) for one in times]
    total_s = sum(overlap_s for overlap_s, _ in shared)
    return sum(overlap_s * share for overlap_s, share in shared) / total_s if total_s else 0.0


def _usual(times: Sequence[_Share]) -> float:
    return statistics.median(one.share for one in times) if times else 0.0
