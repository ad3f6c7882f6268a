"""What a proxy adds: each figure minus that of the baseline of the same round.

The baseline is the same load on the same backend with no proxy between, made within minutes of the proxy's own trial. What the machine did
to both goes out of the difference. What is reported is the median over rounds, as everywhere: a round in which the machine held
either of them up for 50 ms would otherwise decide alone. The interval beside it is Student's of the mean (see
:mod:`httpbench.stats.interval` for why that one), on the plain scale, since a difference may be below zero; such a round widens it.

A difference of percentiles is no percentile of differences: it says by how much the tail moved, not what the slowest request waited for.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from httpbench.model import Distribution, Frozen, Trial
from httpbench.stats.histogram import RESOLUTION
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval, quantile
from httpbench.stats.paired import compare, log_ratios

FIGURES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99", "max", "tm99_9", "stddev")
"""Of a distribution of times, in the order of a table."""


class Difference(Frozen):
    """Proxy minus baseline, over rounds. ``None``: too few rounds."""

    us: float
    """Median over rounds, in µs."""
    us_interval: ConfidenceInterval | None
    """95% confidence interval of the mean, in µs. Null: fewer than three rounds."""
    share: float
    """Median over rounds, relative to the baseline's figure: 0.12 is 12% more."""
    share_interval: ConfidenceInterval | None
    """95% confidence interval of the relative difference. Null: fewer than three rounds."""
    rounds: int
    """Rounds in which both count."""


def overhead(ours: Sequence[Trial], baseline: Sequence[Trial]) -> dict[str, Difference]:
    """By figure; those that no round of both has are left out. Both: the rounds of one cell."""
    return {name: found for name in FIGURES if (found := _difference(_rounds(ours, name), _rounds(baseline, name))) is not None}


def added_us(ours: Trial, baseline: Trial) -> dict[str, float]:
    """Of one round, by figure, in µs."""
    mine, theirs = _times(ours), _times(baseline)
    values = {name: (getattr(mine, name, None), getattr(theirs, name, None)) for name in FIGURES}
    return {name: own - other for name, (own, other) in values.items() if own is not None and other is not None}


def share_of(
    ours: Sequence[Trial], baseline: Sequence[Trial], figure: Callable[[Trial], float | None]
) -> tuple[float, float | None] | None:
    """The ratio of a figure to the baseline's, and half the width of its interval; ``None`` where no round of both has it."""
    mine, theirs = (
        {trial.plan.round: value for trial in side if trial.verdict.counts and (value := figure(trial))} for side in (ours, baseline)
    )
    found = compare(mine, theirs)
    if found is None:
        return None
    return found.ratio, (found.interval.high - found.interval.low) / 2 if found.interval else None


def _times(trial: Trial) -> Distribution | None:
    return trial.measurement.times_us if trial.measurement and trial.verdict.counts else None


def _rounds(trials: Sequence[Trial], name: str) -> dict[int, float]:
    found = {trial.plan.round: getattr(_times(trial), name, None) for trial in trials}
    return {number: value for number, value in found.items() if value is not None}


def _difference(ours: Mapping[int, float], theirs: Mapping[int, float]) -> Difference | None:
    common = sorted(ours.keys() & theirs.keys())
    ratio = compare(ours, theirs, RESOLUTION)
    if not common or ratio is None:
        return None
    differences = np.array([ours[number] - theirs[number] for number in common], dtype=np.float64)
    share = ratio.interval
    return Difference(
        us=float(np.median(differences)),
        us_interval=_interval(differences, RESOLUTION * max(ours[number] + theirs[number] for number in common)),
        share=float(np.exp(np.median(log_ratios(ours, theirs)))) - 1,
        share_interval=ConfidenceInterval(low=share.low - 1, high=share.high - 1) if share else None,
        rounds=len(common),
    )


def _interval(differences: np.ndarray[tuple[int], np.dtype[np.float64]], resolution_us: float) -> ConfidenceInterval | None:
    """Student's, of the mean; never narrower than the step in which the figures were recorded."""
    rounds = len(differences)
    if rounds < ROUNDS_MIN:
        return None
    reach = quantile(rounds) * float(differences.std(ddof=1)) / math.sqrt(rounds) + resolution_us
    centre = float(differences.mean())
    return ConfidenceInterval(low=centre - reach, high=centre + reach)
