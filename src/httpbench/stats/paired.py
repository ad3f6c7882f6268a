"""Compare two targets round by round to find out which one is faster, and by how much.

In each round, both targets are measured within a few minutes. Anything that affects both of them, such as a warmer CPU, cancels out in the
ratio of their results. The result of a comparison is the geometric mean of these ratios. Its interval also covers the means without the
highest or the lowest seventh of the rounds (:mod:`httpbench.stats.interval` gives the reasons). Results from different rounds are never
compared. On a machine whose speed drifts by 3%, such a comparison would hide all smaller differences.

A difference is significant if its p-value, corrected for the number of comparisons in the table, is at most 5%. Otherwise, the comparison
is a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import lru_cache

import numpy as np

from httpbench.model import Frozen, Trial
from httpbench.stats.interval import (
    CONFIDENCE,
    ROUNDS_MIN,
    ConfidenceInterval,
    Floats,
    around,
    centers,
    nearest_to_zero,
    p_value,
    quantile,
)

Rounds = Mapping[int, float]
"""Results of the rounds that count, by round number."""

RANK_ROUNDS_MIN = 6
"""Minimum number of rounds for a rank test. With five rounds, the p-value is at least 2/2⁵ = 6%, so no difference could be significant."""

ROUNDS_PATIENCE = 100
"""Maximum number of rounds to suggest to the user."""

LOG_MAX = 709.0
"""Maximum logarithm of a ratio. The ratio of the greatest and the least published number has a larger one, which no float can hold."""
ROUNDING = 1e-9
"""Maximum absolute log ratio that counts as zero, because it may be a floating-point error."""


class Comparison(Frozen):
    """The ratio of the results of two targets."""

    ratio: float
    """First target's result divided by the second target's, as a geometric mean over rounds."""
    interval: ConfidenceInterval | None
    """95% confidence interval of the ratio, not corrected for other comparisons. It also covers the ratios without the highest or the
    lowest seventh of the rounds. Null: fewer than three rounds."""
    rounds: int
    """Number of rounds in which the trials of both targets count."""
    p: float | None
    """p-value of Student's t-test on the log ratios: the probability that identical servers differ by at least this much. The highest or
    the lowest seventh of the rounds is left out, whichever makes the difference smaller. In a table with four or more rows, all rows
    contribute to the variance. Null: fewer than three rounds."""
    p_adjusted: float | None
    """p-value after Holm's correction for all comparisons of the same table. Null: fewer than three rounds."""
    log_deviation: float | None = None
    """Standard deviation of the logarithm of one round's ratio. For throughput in slices, it is at least what the noise of slices explains.
    Null: fewer than three rounds."""
    freedom: float | None = None
    """Degrees of freedom of ``log_deviation``. Null: fewer than three rounds."""
    p_rank: float | None
    """p-value of Wilcoxon's signed-rank test on the same ratios. A single outlier hardly affects this test. Null: fewer than six rounds."""

    @property
    def comparisons(self) -> int:
        """Number of intervals that are correct together with 95% confidence: only this one."""
        return 1

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.p_adjusted is not None and self.p_adjusted <= 1 - CONFIDENCE


def by_round(trials: Iterable[Trial], figure: Callable[[Trial], float | None]) -> dict[int, float]:
    """Return the results by round number, for the rounds that count and have a result."""
    return {trial.plan.round: value for trial in trials if trial.verdict.counts and (value := figure(trial)) is not None}


def compare(ours: Rounds, theirs: Rounds, resolution: float = 0.0, explained: float = 0.0) -> Comparison | None:
    """Compare two targets over their common rounds; ``None`` if no round has results above zero for both targets.

    ``explained`` is a lower bound on the variance of a round's log ratio (:func:`httpbench.stats.slice_noise.explained_variance`).
    ``resolution`` is the relative resolution of the recorded values. Smaller differences count as zero, and the interval is widened by the
    resolution on both sides. Otherwise, the interval of three rounds in the same histogram bucket would have a width of zero.
    """
    ratios = log_ratios(ours, theirs)
    if not len(ratios):
        return None
    rounds = len(ratios)
    p = interval = log_deviation = freedom = None
    if rounds >= ROUNDS_MIN:
        log_deviation, freedom = math.sqrt(variance(ratios, explained)), float(rounds - 1)
        error = log_deviation / math.sqrt(rounds)
        p = p_value(distance(ratios, resolution), error, freedom)
        interval = around(*centers(ratios), quantile(rounds) * error + resolution)
    return Comparison(
        ratio=math.exp(min(float(ratios.mean()), LOG_MAX)),
        interval=interval,
        rounds=rounds,
        p=p,
        p_adjusted=p,
        log_deviation=log_deviation,
        freedom=freedom,
        p_rank=rank_test(ratios),
    )


def variance(ratios: Floats, explained: float) -> float:
    """Return the variance of the log ratios of rounds, but at least the one that slices explain."""
    return max(float(ratios.var(ddof=1)), explained)


def log_ratios(ours: Rounds, theirs: Rounds) -> Floats:
    """Return ln(ours / theirs) for each round in which both results are above zero, in ascending order of rounds."""
    common = sorted(number for number in ours.keys() & theirs.keys() if ours[number] > 0 and theirs[number] > 0)
    return np.array([math.log(ours[number]) - math.log(theirs[number]) for number in common], dtype=np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method.

    If only differences with an adjusted p-value of at most 5% are reported, at most 5% of tables contain a false report. This is true even
    if the comparisons depend on each other. The m values are sorted in ascending order, and the i-th value is multiplied by m − i + 1. Each
    result is then raised to the previous result if that is higher, and limited to 1.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(np.minimum(np.arange(len(order), 0, -1) * np.asarray(p_values)[order], 1.0))
    return adjusted.tolist()


def distance(ratios: Floats, resolution: float) -> float:
    """Return by how much the mean log ratio differs from zero, minus the resolution.

    The mean is computed without the highest or the lowest seventh of the rounds, whichever is closer to zero. If the two means have
    different signs, the result is 0.
    """
    apart = abs(nearest_to_zero(*centers(ratios))) - resolution
    return apart if apart > ROUNDING else 0.0


def rank_test(ratios: Floats) -> float | None:
    """Return the p-value of Wilcoxon's signed-rank test; ``None`` for fewer than six rounds.

    Rounds without a difference are left out, as in Wilcoxon's paper. The p-value is exact unless several rounds have the same difference.
    In that case, it is a normal approximation with a variance corrected for ties, because the exact distribution would have to be counted
    anew for each pattern of ties.

    Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    """
    if len(ratios) < RANK_ROUNDS_MIN:
        return None
    apart = ratios[np.abs(ratios) > ROUNDING]
    count = len(apart)
    if not count:
        return 1.0
    _, which, alike = np.unique(np.abs(apart), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(alike) - (alike - 1) / 2)[which]
    total, above = count * (count + 1) // 2, float(ranks[apart > 0].sum())
    if len(alike) == count:
        return min(1.0, 2 * rank_sums(count)[int(min(above, total - above))])
    spread = count * (count + 1) * (2 * count + 1) / 24 - int((alike**3 - alike).sum()) / 48
    return math.erfc(abs(above - total / 2) / math.sqrt(2 * spread))


@lru_cache(100)
def rank_sums(count: int) -> list[float]:
    """Return P(sum ≤ index) for the sum of the positive ranks, if each rank from 1 to ``count`` is positive with a probability of 1/2."""
    share = np.zeros(count * (count + 1) // 2 + 1)
    share[0] = 1
    for rank in range(1, count + 1):
        share[rank:] += share[:-rank].copy()
        share /= 2
    return list(map(float, np.cumsum(share)))
