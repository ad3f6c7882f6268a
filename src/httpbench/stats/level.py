"""Evaluate a service level in one trial and in all trials of a search, with pure functions of stored trials."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import get_args

from httpbench.model import Distribution, Figure, Frozen, Measurement, Reason, ReasonKind, Search, Trial, VerdictKind
from httpbench.quantiles import PERCENTILES, samples_needed
from httpbench.stats.disturbance import disturbance
from httpbench.stats.evidence import evidence_of
from httpbench.stats.search import (
    LimitSide,
    Offer,
    RateObservation,
    SearchPhase,
    attainable_width,
    bounds,
    next_offer,
    retest,
    settled,
)

SCOUT_WIDTH = 0.05
"""Width of the interval at which the short first trials (scouts) stop. The trials that count begin at the ends of this interval."""

SPARE_RESPONSES = 1.1
"""Ratio of the number of requests to offer to the number of responses needed. The extra requests allow for responses in flight at both ends
of a trial, and for rates that aren't quite reached."""

DURATION_MAX_S = 60.0
"""Maximum duration of a trial that is extended to get enough responses, in seconds. This limit determines the lowest rate to try."""

PERCENTILE_MIN = 90.0
"""Lowest percentile on which the length of a trial is based. Every trial is long enough to determine this percentile, so means and maximums
are also based on several responses."""

DISTURBED_MAX = 10
"""Number of consecutive disturbed trials after which a search ends, because the machine isn't quiet enough."""


class RatePoint(Frozen):
    """The results at one rate. Trials that don't count are left out."""

    rate_rps: float
    """Offered rate, in requests/s."""
    trials: int
    """Number of trials at this rate that count."""
    held: int
    """Number of trials in which the service level held."""
    times_us: dict[Figure, float]
    """Median over trials of each response time statistic, in µs. Percentiles that are unknown in every trial are omitted."""
    misses: tuple[Reason, ...]
    """Reasons why trials didn't meet the service level, each listed once."""
    generator_busy: int
    """Number of trials in which the load generator was busy."""


class Saturation(Frozen):
    """The result of a search."""

    rate_rps: float | None
    """Highest rate at which the service level holds, below all rates at which it fails, in requests/s. Null: the level held at no rate."""
    rate_failed_rps: float | None
    """Lowest rate at which the service level fails, in requests/s. Null: none was found."""
    is_narrow: bool
    """Whether the distance between the two rates is at most the search's ``width``, or at most ``attainable_width``."""
    attainable_width: float | None = None
    """Width of the range in which trials disagree. Null: the range isn't wider than the search's ``width``."""
    generator_limited: bool
    """Whether the load generator was busy at ``rate_failed_rps``, so the target may be able to do more."""
    closed_loop_rps: float | None
    """Closed-loop throughput with the same connections, from which the search started, in requests/s. Null: not measured."""
    inversions: tuple[float, ...]
    """Rates at which the level held above a rate at which it failed, in requests/s."""
    curve: tuple[RatePoint, ...]
    """All rates with trials that count, in ascending order."""
    rate_low_rps: float | None = None
    """Low end of the observed range, in requests/s. If any trial failed below ``rate_rps``, this is the lowest rate of a failed trial.
    Otherwise, it equals ``rate_rps``. Null: the level held at no rate."""
    rate_high_rps: float | None = None
    """High end of the observed range, in requests/s. If the level held in any trial above ``rate_failed_rps``, this is the highest rate of
    such a trial. Otherwise, it equals ``rate_failed_rps``. Null: no rate failed."""
    is_retested: bool = False
    """Whether both ends of the interval were tried again after other trials."""
    disturbed: int = 0
    """Number of disturbed trials, which don't count."""
    disturbed_by: tuple[tuple[Reason, ...], ...] = ()
    """How other programs disturbed each disturbed trial."""
    too_disturbed: bool = False
    """Whether the search ended because too many consecutive trials were disturbed."""


def responses_needed(search: Search) -> int:
    """Return the minimum number of responses for which all statistics of the service level are known."""
    percentiles = [PERCENTILES[bound.figure] for bound in search.level.bounds if bound.figure in PERCENTILES]
    return samples_needed(max([*percentiles, PERCENTILE_MIN]))


def phases(search: Search) -> tuple[SearchPhase, SearchPhase]:
    """Return the phases of a search: the scouts, and the trials that count."""
    enough = responses_needed(search) * SPARE_RESPONSES

    def lasting(duration_s: float) -> Callable[[float], float]:
        return lambda rate: max(duration_s, round(enough / rate, 1))

    scouts = SearchPhase(1, max(SCOUT_WIDTH, search.width), lasting(search.scout_duration_s))
    return scouts, SearchPhase(search.trials_per_rate, search.width, lasting(search.duration_s))


def rate_min_rps(search: Search) -> float:
    """Return the lowest rate to try."""
    return max(responses_needed(search) * SPARE_RESPONSES / DURATION_MAX_S, 1.0)


def misses(search: Search, trial: Trial) -> tuple[Reason, ...]:
    """Return the reasons why a trial at an offered rate didn't meet the service level; empty if it met the level."""
    if trial.measurement is None or not trial.verdict.counts:
        return trial.verdict.reasons or (Reason.of(ReasonKind.NOT_MEASURED),)
    times = _times(trial.measurement)
    found = []
    for bound in search.level.bounds:
        value: float | None = getattr(times, bound.figure, None)
        if value is None:
            found.append(Reason.of(ReasonKind.TOO_FEW_RESPONSES, figure=bound.figure))
        elif value >= bound.limit_us:
            found.append(Reason.of(ReasonKind.LATENCY_MISSED, figure=bound.figure, latency_us=value))
    return tuple(found)


def observations(search: Search, trials: Sequence[Trial]) -> list[RateObservation]:
    """Return the results of the trials that have an offered rate and count.

    Failed and disturbed trials are omitted, because they don't show whether the target holds the rate.
    """
    return [
        RateObservation(trial.plan.load.rate_rps, trial.plan.load.duration_s, not misses(search, trial))
        for trial in trials
        if trial.plan.load.rate_rps is not None and _says_something(trial)
    ]


def _says_something(trial: Trial) -> bool:
    return trial.verdict.kind is not VerdictKind.FAILED and not disturbance(trial)


def is_too_disturbed(trials: Sequence[Trial]) -> bool:
    """Return whether enough recent trials were disturbed to end the search."""
    last = [trial for trial in trials if trial.plan.load.rate_rps is not None][-DISTURBED_MAX:]
    return len(last) == DISTURBED_MAX and all(disturbance(trial) for trial in last)


def upcoming_offer(search: Search, trials: Sequence[Trial]) -> Offer | None:
    """Return the next trial that the search asks for, or ``None`` if the search is complete or has no rate to start from."""
    start_rps = closed_loop_rps(trials)
    return next_offer(observations(search, trials), phases(search), start_rps, rate_min_rps(search)) if start_rps else None


def saturation(search: Search, trials: Sequence[Trial]) -> Saturation:
    """Return the result of the trials of a search, even if the search didn't complete."""
    _, final = phases(search)
    seen = observations(search, trials)
    found = settled(seen, final)
    known = bounds(found)
    attainable = attainable_width(seen, final)
    curve = [_point(search, rate, _counting(rate, trials, final)) for rate in found]
    failed = [point.rate_rps for point in curve if point.held < point.trials]
    held = [point.rate_rps for point in curve if point.held > 0]
    by = tuple(who for trial in trials if trial.plan.load.rate_rps is not None and (who := disturbance(trial)))
    return Saturation(
        rate_rps=known.lower,
        rate_failed_rps=known.upper,
        is_narrow=known.is_within(attainable),
        attainable_width=attainable if attainable > search.width else None,
        generator_limited=any(point.rate_rps == known.upper and 2 * point.generator_busy > point.trials for point in curve),
        closed_loop_rps=closed_loop_rps(trials),
        inversions=tuple(rate for rate, kind in found.items() if kind is LimitSide.LOWER and rate > (known.upper or math.inf)),
        curve=tuple(curve),
        rate_low_rps=min((known.lower, *failed)) if known.lower is not None else None,
        rate_high_rps=max((known.upper, *held)) if known.upper is not None else None,
        is_retested=bool(found) and retest(seen, final) is None,
        disturbed=len(by),
        disturbed_by=by,
        too_disturbed=is_too_disturbed(trials),
    )


def closed_loop_rps(trials: Sequence[Trial]) -> float | None:
    """Return the throughput of the closed-loop trial that begins a search."""
    return next((trial.measurement.throughput_rps for trial in trials if trial.plan.load.rate_rps is None and trial.measurement), None)


def held_in_most(point: RatePoint) -> bool:
    """Return whether at least half of a rate's trials met the service level."""
    return 2 * point.held >= point.trials


def _counting(rate: float, trials: Sequence[Trial], final: SearchPhase) -> list[Trial]:
    loads = ((trial, trial.plan.load) for trial in trials if _says_something(trial))
    return [trial for trial, load in loads if load.rate_rps == rate and load.duration_s >= final.duration_s(rate)]


def _point(search: Search, rate: float, trials: Sequence[Trial]) -> RatePoint:
    missed = [misses(search, trial) for trial in trials]
    reasons = [reason for each in missed for reason in each]
    times = [_times(trial.measurement) for trial in trials if trial.measurement is not None]
    evidence = [evidence_of(trial) for trial in trials]
    return RatePoint(
        rate_rps=rate,
        trials=len(trials),
        held=sum(not each for each in missed),
        times_us={figure: value for figure in get_args(Figure) if (value := _median(times, figure)) is not None},
        misses=tuple(reason for place, reason in enumerate(reasons) if reason not in reasons[:place]),
        generator_busy=sum(one is not None and one.generator_is_busy() for one in evidence),
    )


def _times(measurement: Measurement) -> Distribution | None:
    return measurement.response_time_us or measurement.service_time_us


def _median(times: Sequence[Distribution | None], figure: str) -> float | None:
    values = [value for one in times if one is not None and (value := getattr(one, figure)) is not None]
    return statistics.median(values) if values else None
