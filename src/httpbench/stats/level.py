"""Decide whether trials meet a service level, and derive the result of a search from its stored trials."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import get_args

from httpbench.model import FIRST_BYTE, Figure, Frozen, Measurement, Reason, ReasonKind, Search, Trial, VerdictKind
from httpbench.quantiles import PERCENTILES, samples_needed
from httpbench.stats.disturbance import disturbance
from httpbench.stats.evidence import evidence_of
from httpbench.stats.overload import Overload, overload
from httpbench.stats.search import (
    Bounds,
    LimitSide,
    Offer,
    RateObservation,
    SearchPhase,
    attainable_width,
    bounds,
    next_offer,
    places,
    retest,
    settled,
)

SCOUT_WIDTH = 0.05
"""Relative width of the interval at which the scouts (short trials at the start of a search) stop. The trials that count start at the ends
of this interval."""

SPARE_RESPONSES = 1.1
"""Number of requests to offer for each response that is needed. The extra requests make up for responses that are in flight at the start or
end of a trial, and for offered rates that the target doesn't quite reach."""

DURATION_MAX_S = 60.0
"""Maximum duration to which a trial is extended to get enough responses, in seconds. This limit determines the lowest rate to try."""

PERCENTILE_MIN = 90.0
"""Lowest percentile that determines the duration of a trial. Even if the service level has no percentile, every trial is long enough for
this one. Means and maximums are therefore based on many responses, too."""

DISTURBED_MAX = 10
"""Number of consecutive disturbed trials after which a search gives up, because the machine isn't quiet enough."""


class RatePoint(Frozen):
    """The results of the trials at one rate that count."""

    rate_rps: float
    """Offered rate, in requests/s."""
    trials: int
    """Number of trials that count."""
    held: int
    """Number of trials that met the service level."""
    times_us: dict[Figure, float]
    """Median over trials of each latency statistic, in µs. Statistics that are unknown in every trial are omitted."""
    misses: tuple[Reason, ...]
    """Reasons why trials missed the service level, without duplicates."""
    generator_busy: int
    """Number of trials in which the load generator was busy."""


class Saturation(Frozen):
    """The result of a search."""

    rate_rps: float | None
    """Highest rate that meets the service level and is below all rates that miss it, in requests/s. Null: no such rate was found."""
    rate_failed_rps: float | None
    """Lowest rate that misses the service level, in requests/s. Null: no such rate was found."""
    is_narrow: bool
    """Whether the relative difference between ``rate_rps`` and ``rate_failed_rps`` is at most the search's ``width``, or at most
    ``attainable_width``."""
    attainable_width: float | None = None
    """Relative width of the range of rates in which trials disagree. Null: this range isn't wider than the search's ``width``."""
    generator_limited: bool
    """Whether the load generator was busy in most trials at ``rate_failed_rps``, so that the target may be able to handle more load."""
    closed_loop_rps: float | None
    """Closed-loop throughput with the same connections, in requests/s. The search started from this rate. Null: not measured."""
    closed_loop_disturbed: bool = False
    """Whether all closed-loop trials were disturbed, so that ``closed_loop_rps`` is too low."""
    inversions: tuple[float, ...]
    """Rates that met the service level although a lower rate missed it, in requests/s."""
    curve: tuple[RatePoint, ...]
    """Results at all rates with trials that count, in ascending order of rates."""
    rate_low_rps: float | None = None
    """Low end of the observed range, in requests/s. If a trial below ``rate_rps`` missed the service level, this is the lowest rate of such
    a trial. Otherwise, it equals ``rate_rps``. Null: ``rate_rps`` is null."""
    rate_high_rps: float | None = None
    """High end of the observed range, in requests/s. If a trial above ``rate_failed_rps`` met the service level, this is the highest rate
    of such a trial. Otherwise, it equals ``rate_failed_rps``. Null: ``rate_failed_rps`` is null."""
    is_retested: bool = False
    """Whether the retest of both ends of the interval is complete."""
    disturbed: int = 0
    """Number of disturbed trials, which don't count."""
    disturbed_by: tuple[tuple[Reason, ...], ...] = ()
    """For each disturbed trial, the reasons why it counts as disturbed."""
    too_disturbed: bool = False
    """Whether the search gave up because too many consecutive trials were disturbed."""
    overload: Overload | None = None
    """What the target did beyond the highest rate. Null: not requested, or no trial shows it."""


def responses_needed(search: Search) -> int:
    """Return how many responses a trial needs so that every statistic in the service level is known."""
    figures = (bound.figure.removeprefix(FIRST_BYTE) for bound in search.level.bounds)
    percentiles = [PERCENTILES[figure] for figure in figures if figure in PERCENTILES]
    return samples_needed(max([*percentiles, PERCENTILE_MIN]))


def phases(search: Search) -> tuple[SearchPhase, SearchPhase]:
    """Return the two phases of a search: the scouts, then the trials that count."""
    enough = responses_needed(search) * SPARE_RESPONSES

    def lasting(duration_s: float) -> Callable[[float], float]:
        return lambda rate: max(duration_s, round(enough / rate, 1))

    scouts = SearchPhase(1, max(SCOUT_WIDTH, search.width), lasting(search.scout_duration_s))
    return scouts, SearchPhase(search.trials_per_rate, search.width, lasting(search.duration_s))


def rate_min_rps(search: Search) -> float:
    """Return the lowest rate to try."""
    return max(responses_needed(search) * SPARE_RESPONSES / DURATION_MAX_S, 1.0)


def misses(search: Search, trial: Trial) -> tuple[Reason, ...]:
    """Return the reasons why a trial at an offered rate missed the service level; empty if the trial met it."""
    if trial.measurement is None or not trial.verdict.counts:
        return trial.verdict.reasons or (Reason.of(ReasonKind.NOT_MEASURED),)
    found = []
    for bound in search.level.bounds:
        value = trial.measurement.latency_us(bound.figure)
        if value is None:
            found.append(Reason.of(ReasonKind.TOO_FEW_RESPONSES, figure=bound.figure))
        elif value >= bound.limit_us:
            found.append(Reason.of(ReasonKind.LATENCY_MISSED, figure=bound.figure, latency_us=value))
    return tuple(found)


def _at_one_rate(trials: Sequence[Trial]) -> list[Trial]:
    """Return the trials of the search at an offered rate, without those beyond the highest rate, whose rate changes."""
    return [trial for trial in trials if trial.plan.load.rate_rps is not None and trial.plan.load.rate_from_rps is None]


def observations(search: Search, trials: Sequence[Trial]) -> list[RateObservation]:
    """Return the results of the trials with an offered rate, except failed and disturbed trials.

    Failed and disturbed trials don't show whether the target holds the rate.
    """
    return [
        RateObservation(trial.plan.load.rate_rps or 0.0, trial.plan.load.duration_s, not misses(search, trial))
        for trial in _at_one_rate(trials)
        if _says_something(trial)
    ]


def _says_something(trial: Trial) -> bool:
    return trial.verdict.kind is not VerdictKind.FAILED and not disturbance(trial)


def is_too_disturbed(trials: Sequence[Trial]) -> bool:
    """Return whether so many recent trials in a row were disturbed that the search should give up."""
    last = _at_one_rate(trials)[-DISTURBED_MAX:]
    return len(last) == DISTURBED_MAX and all(disturbance(trial) for trial in last)


def upcoming_offer(search: Search, trials: Sequence[Trial]) -> Offer | None:
    """Return the next trial of a search; ``None`` if the search is complete or has no closed-loop result to start from."""
    start_rps = closed_loop_rps(trials)
    return next_offer(observations(search, trials), phases(search), start_rps, rate_min_rps(search)) if start_rps else None


def saturation(search: Search, trials: Sequence[Trial]) -> Saturation:
    """Derive the result of a search from its trials. The search may be incomplete."""
    _, final = phases(search)
    seen = observations(search, trials)
    found = settled(seen, final)
    known = bounds(found)
    attainable = attainable_width(seen, final)
    curve = [_point(search, rate, _counting(rate, trials, final)) for rate in found]
    failed = [point.rate_rps for point in curve if point.held < point.trials]
    held = [point.rate_rps for point in curve if point.held > 0]
    by = tuple(who for trial in _at_one_rate(trials) if (who := disturbance(trial)))
    return Saturation(
        rate_rps=known.lower,
        rate_failed_rps=known.upper,
        is_narrow=known.is_within(attainable),
        attainable_width=attainable if attainable > search.width else None,
        generator_limited=any(point.rate_rps == known.upper and 2 * point.generator_busy > point.trials for point in curve),
        closed_loop_rps=closed_loop_rps(trials),
        closed_loop_disturbed=is_closed_loop_disturbed(trials),
        inversions=tuple(rate for rate, kind in found.items() if kind is LimitSide.LOWER and rate > (known.upper or math.inf)),
        curve=tuple(curve),
        rate_low_rps=min((known.lower, *failed)) if known.lower is not None else None,
        rate_high_rps=max((known.upper, *held)) if known.upper is not None else None,
        is_retested=bool(found) and retest(seen, final) is None,
        disturbed=len(by),
        disturbed_by=by,
        too_disturbed=is_too_disturbed(trials),
        overload=overload(search, trials),
    )


def closed_loop_rps(trials: Sequence[Trial]) -> float | None:
    """Return the closed-loop throughput at the start of a search; ``None`` if it wasn't measured.

    A disturbed trial is repeated, and the first undisturbed one counts. If all of them were disturbed, the highest throughput counts,
    because a disturbance makes the throughput too low.
    """
    quiet, disturbed = _closed_loop_rps(trials)
    return quiet[0] if quiet else max(disturbed, default=None)


def is_closed_loop_disturbed(trials: Sequence[Trial]) -> bool:
    """Return whether every closed-loop trial at the start of a search was disturbed."""
    quiet, disturbed = _closed_loop_rps(trials)
    return bool(disturbed) and not quiet


def _closed_loop_rps(trials: Sequence[Trial]) -> tuple[list[float], list[float]]:
    """Return the throughput of each undisturbed and of each disturbed closed-loop trial, in requests/s."""
    quiet: list[float] = []
    disturbed: list[float] = []
    for trial in trials:
        if trial.plan.load.rate_rps is None and trial.measurement:
            (disturbed if disturbance(trial) else quiet).append(trial.measurement.throughput_rps)
    return quiet, disturbed


def bracket(search: Search, trials: Sequence[Trial]) -> Bounds:
    """Return the interval that a running search has found so far. Scouts show the ends that no trial that counts has shown yet."""
    seen = observations(search, trials)
    scouted, known = (bounds(places(seen, phase)) for phase in phases(search))
    lower = scouted.lower if known.lower is None else known.lower
    upper = scouted.upper if known.upper is None else known.upper
    if lower is not None and upper is not None and lower >= upper:
        return known
    return Bounds(lower, upper)


def held_in_most(point: RatePoint) -> bool:
    """Return whether at least half of the trials at a rate met the service level."""
    return 2 * point.held >= point.trials


def _counting(rate: float, trials: Sequence[Trial], final: SearchPhase) -> list[Trial]:
    loads = ((trial, trial.plan.load) for trial in _at_one_rate(trials) if _says_something(trial))
    return [trial for trial, load in loads if load.rate_rps == rate and load.duration_s >= final.duration_s(rate)]


def _point(search: Search, rate: float, trials: Sequence[Trial]) -> RatePoint:
    missed = [misses(search, trial) for trial in trials]
    reasons = [reason for each in missed for reason in each]
    measured = [trial.measurement for trial in trials if trial.measurement is not None]
    evidence = [evidence_of(trial) for trial in trials]
    return RatePoint(
        rate_rps=rate,
        trials=len(trials),
        held=sum(not each for each in missed),
        times_us={figure: value for figure in get_args(Figure) if (value := _median(measured, figure)) is not None},
        misses=tuple(reason for place, reason in enumerate(reasons) if reason not in reasons[:place]),
        generator_busy=sum(one is not None and one.generator_is_busy() for one in evidence),
    )


def _median(measured: Sequence[Measurement], figure: str) -> float | None:
    values = [value for each in measured if (value := each.latency_us(figure)) is not None]
    return statistics.median(values) if values else None
