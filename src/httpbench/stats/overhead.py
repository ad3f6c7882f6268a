"""Compute the overhead of a proxy: its results minus the baseline's results in the same round.

The baseline sends the same load to the same backend without a proxy. It is measured within minutes of the proxy's own trial, so effects of
the machine on both trials cancel out. The result is the mean over rounds with Student's interval (:mod:`httpbench.stats.interval` gives the
reasons). The interval is computed on a linear scale, because a difference may be negative. If the machine delays one of the two trials by
50 ms in one round, the mean shifts, but the interval widens by more than that.

The difference between two percentiles isn't the percentile of the delays that the proxy adds to single requests. It shows only how far that
percentile of all requests moved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from httpbench.model import Distribution, Frozen, Trial
from httpbench.stats.histogram import RESOLUTION
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval, quantile
from httpbench.stats.paired import by_round, compare

FIGURES = ("p50", "p90", "p95", "p99", "p99_9", "p99_99", "max", "tm99_9", "stddev")
"""Latency statistics to compare, in the order of the table's columns."""


class Difference(Frozen):
    """The difference between a proxy and its baseline over rounds."""

    us: float
    """Mean difference over rounds, in µs."""
    us_interval: ConfidenceInterval | None
    """95% confidence interval of the mean difference, in µs. Null: fewer than three rounds."""
    share: float
    """Relative difference: the geometric mean over rounds of the ratio to the baseline, minus 1. For example, 0.12 is 12% more."""
    share_interval: ConfidenceInterval | None
    """95% confidence interval of the relative difference. Null: fewer than three rounds."""
    rounds: int
    """Number of rounds in which both trials count."""


def overhead(ours: Sequence[Trial], baseline: Sequence[Trial]) -> dict[str, Difference]:
    """Return the difference between a cell and its baseline for each statistic.

    Statistics that no round has for both the proxy and the baseline are omitted.
    """
    return {name: found for name in FIGURES if (found := _difference(ours, baseline, name)) is not None}


def added_us(ours: Trial, baseline: Trial) -> dict[str, float]:
    """Return the difference between a proxy and its baseline in one round for each statistic, in µs."""
    mine, theirs = _times(ours), _times(baseline)
    values = {name: (getattr(mine, name, None), getattr(theirs, name, None)) for name in FIGURES}
    return {name: own - other for name, (own, other) in values.items() if own is not None and other is not None}


def share_of(
    ours: Sequence[Trial], baseline: Sequence[Trial], figure: Callable[[Trial], float | None]
) -> tuple[float, float | None] | None:
    """Return the ratio to the baseline's result, and half the width of the ratio's interval; ``None`` if no round has both results."""
    found = compare(by_round(ours, figure), by_round(baseline, figure))
    if found is None:
        return None
    return found.ratio, (found.interval.high - found.interval.low) / 2 if found.interval else None


def _times(trial: Trial) -> Distribution | None:
    return trial.measurement.times_us if trial.measurement and trial.verdict.counts else None


def _difference(proxy: Sequence[Trial], baseline: Sequence[Trial], name: str) -> Difference | None:
    ours, theirs = (by_round(side, lambda trial: getattr(_times(trial), name, None)) for side in (proxy, baseline))
    common = sorted(ours.keys() & theirs.keys())
    ratio = compare(ours, theirs, RESOLUTION)
    if not common or ratio is None:
        return None
    differences = np.array([ours[number] - theirs[number] for number in common], dtype=np.float64)
    share = ratio.interval
    return Difference(
        us=float(differences.mean()),
        us_interval=_interval(differences, RESOLUTION * max(ours[number] + theirs[number] for number in common)),
        share=ratio.ratio - 1,
        share_interval=ConfidenceInterval(low=share.low - 1, high=share.high - 1) if share else None,
        rounds=len(common),
    )


def _interval(differences: np.ndarray[tuple[int], np.dtype[np.float64]], resolution_us: float) -> ConfidenceInterval | None:
    """Return Student's interval of the mean, widened on both sides by the resolution of the recorded values."""
    rounds = len(differences)
    if rounds < ROUNDS_MIN:
        return None
    reach = quantile(rounds) * float(differences.std(ddof=1)) / math.sqrt(rounds) + resolution_us
    center = float(differences.mean())
    return ConfidenceInterval(low=center - reach, high=center + reach)
