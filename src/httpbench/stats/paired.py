"""Compare two targets within each round: which one is faster, and by how much.

Rounds are interleaved, so in each round, both targets were measured within the same minutes. The ratio within a round is free of effects
that the machine had on both targets. The result is the geometric mean of these ratios, with an interval that holds no matter which seventh
of the rounds is left out (see :mod:`httpbench.stats.interval` for the reasons). Results of different rounds are never compared: on a
machine that drifts by 3%, such a comparison would hide every smaller difference.

A comparison is a claim only if its p-value, corrected for the number of comparisons in its table, is at most 5%. Everything else is a tie.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence

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
    standard_error,
)

Rounds = Mapping[int, float]
"""Results of the rounds that count, by round number."""

RANK_ROUNDS_MIN = 6
"""Minimum number of rounds for a rank test. Even if one target is faster in all of five rounds, the p-value is 2/2⁵ = 6%, which can't
support a claim."""

ROUNDS_PATIENCE = 100
"""Maximum number of rounds to suggest to the user."""

ROUNDING = 1e-9
"""Maximum difference of log ratios that may be a floating-point error."""


class Comparison(Frozen):
    """The ratio of the results of two targets."""

    ratio: float
    """Ours / theirs: the geometric mean over rounds."""
    interval: ConfidenceInterval | None
    """95% confidence interval of the ratio, without a correction for other comparisons. It holds no matter which seventh of the rounds is
    left out. Null: fewer than three rounds."""
    rounds: int
    """Number of rounds in which the trials of both targets count."""
    p: float | None
    """p-value of Student's t on the log ratios: how often identical servers would differ by at least this much. The highest or the lowest
    seventh of the rounds is left out, whichever makes the difference smaller. In a table with four or more rows, all rows contribute to the
    variance. Null: fewer than three rounds."""
    p_adjusted: float | None
    """p-value after Holm's correction for all comparisons of the same table. Null: fewer than three rounds."""
    p_rank: float | None
    """p-value of Wilcoxon's signed-rank test on the same ratios, which a single outlier can't sway. Null: fewer than six rounds."""

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.p_adjusted is not None and self.p_adjusted <= 1 - CONFIDENCE


def by_round(trials: Iterable[Trial], figure: Callable[[Trial], float | None]) -> dict[int, float]:
    """Return the result of each round that counts and has a result."""
    return {trial.plan.round: value for trial in trials if trial.verdict.counts and (value := figure(trial)) is not None}


def compare(ours: Rounds, theirs: Rounds, resolution: float = 0.0) -> Comparison | None:
    """Compare two targets over the rounds that both have; ``None`` if there is no round in which both results are above zero.

    ``resolution`` is the relative step of the recorded values. Two values within one step count as equal, and no interval is narrower than
    a step. Without this rule, the interval of three rounds in the same histogram bucket would have a width of zero.
    """
    ratios = log_ratios(ours, theirs)
    if not len(ratios):
        return None
    rounds = len(ratios)
    p = interval = None
    if rounds >= ROUNDS_MIN:
        error = standard_error(ratios)
        p = p_value(distance(ratios, resolution), error, rounds - 1)
        interval = around(*centers(ratios), quantile(rounds) * error + resolution)
    return Comparison(
        ratio=math.exp(float(ratios.mean())),
        interval=interval,
        rounds=rounds,
        p=p,
        p_adjusted=p,
        p_rank=rank_test(ratios),
    )


def log_ratios(ours: Rounds, theirs: Rounds) -> Floats:
    """Return ln(ours / theirs) for each round in which both results are above zero, in ascending order of rounds."""
    common = sorted(number for number in ours.keys() & theirs.keys() if ours[number] > 0 and theirs[number] > 0)
    return np.array([math.log(ours[number]) - math.log(theirs[number]) for number in common], dtype=np.float64)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values adjusted by Holm's method.

    If every comparison with an adjusted p-value of at most 5% is a claim, at most 5% of tables contain a false claim, however the
    comparisons depend on each other. In ascending order, the i-th of m values is multiplied by m − i + 1, and no value is less than the
    previous one.

    Source: S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6, 1979.

        >>> holm([0.01, 0.04, 0.03])
        [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    adjusted = np.empty(len(order))
    adjusted[order] = np.maximum.accumulate(np.minimum(np.arange(len(order), 0, -1) * np.asarray(p_values)[order], 1.0))
    return adjusted.tolist()


def distance(ratios: Floats, resolution: float) -> float:
    """Return by how much the mean log ratio differs from zero beyond the resolution, no matter which seventh of the rounds is left out."""
    return max(abs(nearest_to_zero(*centers(ratios))) - max(resolution, ROUNDING), 0.0)


def rank_test(ratios: Floats) -> float | None:
    """Return the p-value of Wilcoxon's signed-rank test; ``None`` for fewer than six rounds.

    Rounds without any difference are left out, as in Wilcoxon's paper. The p-value is exact unless the targets differ by the same amount
    in several rounds. In that case, it is a normal approximation, because scipy's default is to try all combinations of signs, which takes
    seconds.

    Source: F. Wilcoxon, "Individual comparisons by ranking methods", Biometrics Bulletin 1, 1945.
    """
    if len(ratios) < RANK_ROUNDS_MIN:
        return None
    from scipy.stats import wilcoxon  # imported here because it takes longer to load than everything else

    apart = ratios[np.abs(ratios) > ROUNDING]
    if not len(apart):
        return 1.0
    has_ties = len(np.unique(np.abs(apart))) < len(apart)
    return float(wilcoxon(apart, method="approx" if has_ties else "exact").pvalue)
