"""Test all pairs of rows of a table, and rank the rows by their significant differences.

A rank is a range, because rounds rarely prove a complete order. The best rank of a row is 1 plus the number of rows that are significantly
better. The worst rank is the number of rows minus the number of rows that are significantly worse. All pairs are tested together, so in at
least 95% of tables, every range contains the true rank (M. Mogstad, J. P. Romano, A. M. Shaikh, D. Wilhelm, "Inference for ranks with
applications to mobility across neighbourhoods and academic achievement across countries", Review of Economic Studies 91, 2024).

There are many comparisons but few rounds: ten rows make 45 pairs, and a pair with three rounds has only two degrees of freedom. By
themselves, three rounds of one pair can hardly prove a difference, even if one server is three times as fast. But all rows of a round are
measured within a few minutes. Together, the rows show how a round affected all of them, and the remaining variation is the noise of each
row. In logarithms:

    result of row i in round j = row i + round j + noise with a variance σᵢ² of row i

Source: F. E. Grubbs, "On estimating precision of measuring instruments and product variability", Journal of the American Statistical
Association 43, 1948. The results of a few rounds may be close together by chance. Each row's variance is therefore moderated, which means
that it is averaged with the variance of the whole table, as in G. K. Smyth, "Linear models and empirical Bayes methods for assessing
differential expression in microarray experiments", Statistical Applications in Genetics and Molecular Biology 3, 2004. The table's variance
gets more weight if the variances of the rows are similar (:func:`moderated`). The degrees of freedom of a pair's variance follow F. E.
Satterthwaite, "An approximate distribution of estimates of variance components", Biometrics Bulletin 2, 1946.

``benchmarks/ranks.py`` simulates error rates and power.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from httpbench.stats.interval import (
    CONFIDENCE,
    LEFT_OUT,
    ROUNDS_MIN,
    ConfidenceInterval,
    Floats,
    around,
    between_centers,
    centers,
    p_value,
    student,
)
from httpbench.stats.paired import ROUNDING, ROUNDS_PATIENCE, Comparison, Rounds, distance, holm, log_ratios, rank_test, variance
from httpbench.stats.slice_noise import Slices, explained_variance

ROWS_MIN = 4
"""Minimum number of rows for estimating the noise of each row. With fewer rows, each pair is compared separately."""

CAUTION = 1.25
"""Factor that increases the table's mean variance. With this factor, at most 5% of tables with equal rows show a false difference, even if
some rows are much noisier than others (``benchmarks/ranks.py``)."""

OUTLIER = 0.0003
"""p-value of an F-test below which a row counts as an outlier. The variance of such a noisy row isn't averaged with the variances of other
rows."""


@dataclass(frozen=True, slots=True)
class RankRange:
    """The range of ranks that a row may have."""

    best: int
    worst: int


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows, with their log ratios and variances."""

    one: int
    other: int
    logs: Floats
    """ln(one / other) by round."""
    variances: tuple[float, ...]
    """Variances of the logarithms of both rows over rounds, or only the variance of the log ratios if the pair is compared separately."""
    priors: tuple[float, ...]
    """Degrees of freedom that the other rows of the table add to each variance."""
    resolution: float
    """Relative resolution of the recorded values."""

    @property
    def above(self) -> int:
        """The row with the higher results."""
        return self.one if self.logs.mean() > 0 else self.other

    @property
    def below(self) -> int:
        """The row with the lower results."""
        return self.other if self.logs.mean() > 0 else self.one

    def p(self, rounds: int) -> float:
        """Return the p-value for this number of equally noisy rounds: the probability that equal targets differ by at least as much."""
        apart = distance(self.logs, self.resolution)
        if len(self.logs) < LEFT_OUT <= rounds:
            apart = max(apart - between_centers(self.log_deviation, rounds), 0.0)
        return p_value(apart, self.log_deviation / math.sqrt(rounds), self.freedom(rounds))

    def interval(self) -> ConfidenceInterval:
        """Return the 95% interval of the ratio, which also covers the ratios without the highest or the lowest seventh of the rounds."""
        rounds = len(self.logs)
        reach = student(self.freedom(rounds)) * self.log_deviation / math.sqrt(rounds)
        return around(*centers(self.logs), reach + self.resolution)

    @property
    def log_deviation(self) -> float:
        """Standard deviation of one round's log ratio."""
        return math.sqrt(sum(self.variances))

    def freedom(self, rounds: int) -> float:
        """Return Satterthwaite's degrees of freedom of the sum of the variances, for this number of rounds."""
        parts = (variance**2 / (prior + rounds - 1) for variance, prior in zip(self.variances, self.priors, strict=True))
        return sum(self.variances) ** 2 / divisor if (divisor := sum(parts)) else rounds - 1


class AllPairs:
    """All pairs of rows of a table, tested together with Holm's correction. Higher results are better."""

    def __init__(self, rows: Sequence[Rounds], resolution: float = 0.0, slices: Sequence[Slices] = ()) -> None:
        """Test all pairs of ``rows``, which contain results by round. ``resolution`` is the relative resolution of the recorded values.

        ``slices`` contains the slices of each row if the results are throughput in slices. They are used only for fewer than
        :data:`ROWS_MIN` rows.
        """
        self._pairs = {(pair.one, pair.other): pair for pair in _pairs(rows, resolution, slices)}
        self._p = {key: pair.p(len(pair.logs)) for key, pair in self._pairs.items()}
        self._adjusted = dict(zip(self._p, holm(list(self._p.values())), strict=True))

    def ranges(self, ranked: Collection[int], bounds: Collection[int] = ()) -> list[RankRange]:
        """Return the range of ranks of each row in ``ranked``, counting only these rows.

        The results of the rows in ``bounds`` are only lower bounds, so no other row can be proven to be better.
        """
        better, worse = dict.fromkeys(ranked, 0), dict.fromkeys(ranked, 0)
        for pair in self._decidable(ranked, bounds):
            if self._adjusted[pair.one, pair.other] <= 1 - CONFIDENCE:
                better[pair.below] += 1
                worse[pair.above] += 1
        return [RankRange(1 + better[row], len(better) - worse[row]) for row in ranked]

    def comparison(self, ours: int, theirs: int) -> Comparison | None:
        """Compare two rows; ``None`` if they have fewer than three rounds in common."""
        key = (min(ours, theirs), max(ours, theirs))
        pair = self._pairs.get(key)
        if pair is None:
            return None
        log_ratio, interval = float(pair.logs.mean()), pair.interval()
        if ours > theirs:
            log_ratio, interval = -log_ratio, ConfidenceInterval(low=1 / interval.high, high=1 / interval.low)
        return Comparison(
            ratio=math.exp(log_ratio),
            interval=interval,
            rounds=len(pair.logs),
            p=self._p[key],
            p_adjusted=self._adjusted[key],
            log_deviation=pair.log_deviation,
            freedom=pair.freedom(len(pair.logs)),
            p_rank=rank_test(pair.logs),
        )

    def rounds_to_rank(self, ranked: Collection[int], bounds: Collection[int] = ()) -> int | None:
        """Return how many rounds would give two of the rows in ``ranked`` different ranks if the noise stayed the same.

        This is the smallest n with p(n) · pairs ≤ 5% for the clearest pair whose lower row isn't in ``bounds``, or ``None`` if n would
        exceed :data:`ROUNDS_PATIENCE`.
        """
        pairs = list(self._decidable(ranked, bounds))
        if not pairs:
            return None
        counts = range(min(len(pair.logs) for pair in pairs) + 1, ROUNDS_PATIENCE + 1)
        return next((n for n in counts if min(pair.p(n) for pair in pairs) * len(self._pairs) <= 1 - CONFIDENCE), None)

    def _decidable(self, ranked: Collection[int], bounds: Collection[int]) -> Iterator[Pair]:
        """Yield the pairs of ranked rows that can be told apart. A row that is only a lower bound can't be proven to be slower."""
        yield from (pair for pair in self._pairs.values() if {pair.one, pair.other} <= set(ranked) and pair.below not in bounds)


def pooled(rows: Sequence[Rounds]) -> list[int]:
    """Return the rows to rank together: those with the largest total number of results in their common rounds.

    The ranking uses only rounds that all of its rows have. If a row lost two of five rounds, including it would exclude these two rounds
    for all other rows, so the row is left out instead. A row that lost one of fifteen rounds is kept. With fewer than :data:`ROWS_MIN`
    rows, all rows are kept, because each pair is compared over its own common rounds.
    """
    everyone = list(range(len(rows)))
    if len(rows) < ROWS_MIN:
        return everyone
    own = [frozenset(number for number, value in row.items() if value > 0) for row in rows]
    candidates = {one & other for one in own for other in own} | {frozenset.intersection(*own)}
    kept = {rounds: [row for row in everyone if rounds <= own[row]] for rounds in candidates if len(rounds) >= ROUNDS_MIN}
    if not kept:
        return everyone
    return kept[max(kept, key=lambda rounds: (len(kept[rounds]) * len(rounds), len(kept[rounds]), sorted(rounds)))]


def _pairs(rows: Sequence[Rounds], resolution: float, slices: Sequence[Slices]) -> Iterator[Pair]:
    common = set.intersection(*(set(row) for row in rows)) if rows else set()
    if len(rows) < ROWS_MIN or len(common) < ROUNDS_MIN or min(row[number] for row in rows for number in common) <= 0:
        for one, other in combinations(range(len(rows)), 2):
            ratios = log_ratios(rows[one], rows[other])
            if len(ratios) >= ROUNDS_MIN:
                explained = explained_variance(slices[one], slices[other]) if slices else 0.0
                yield Pair(one, other, ratios, (variance(ratios, explained),), (0.0,), resolution)
        return
    logs = np.log(np.array([[row[number] for number in sorted(common)] for row in rows], dtype=np.float64))
    variances, priors = (found.tolist() for found in moderated(logs))
    for one, other in combinations(range(len(rows)), 2):
        both = (variances[one], variances[other])
        yield Pair(one, other, logs[one] - logs[other], both, (priors[one], priors[other]), resolution)


def moderated(logs: Floats) -> tuple[Floats, Floats]:
    """Return each row's moderated variance, and the degrees of freedom that the table adds. The axes of ``logs`` are rows and rounds.

    The moderated variance is (d₀ s₀² + d s²) / (d₀ + d). Here, s² is the row's own variance, s₀² is the table's mean variance, and d = n −
    1 for n rounds. Smyth estimates d₀ from how much the rows' variances differ: 2 · trigamma⁻¹(variance of ln s² − trigamma(d / 2)). This
    function is more cautious in four ways, because a table has few rows:

    - s₀² is the arithmetic mean, times :data:`CAUTION`. Otherwise, a noisy row that looks steady by chance would get the small variance of
      steady rows.
    - The variance of ln s² is increased by its standard error, which for k rows is √(2 / (k − 1)) times the variance.
    - d₀ is at most a quarter of (k − 2) d, because a few rows may look more similar than they are.
    - A row that is noisier than the other rows according to an F-test keeps its own variance and doesn't affect s₀² and d₀. A similar
      method, which requires many rows, lets such rows count partially (B. Phipson and others, "Robust hyperparameter estimation protects
      against hypervariable genes and improves power to detect differential expression", Annals of Applied Statistics 10, 2016).
    """
    from scipy.special import fdtrc, zeta  # slow to import, and few commands need it

    count, rounds = logs.shape
    freedom = rounds - 1
    own = np.maximum(noise_of_rows(logs), ROUNDING**2)
    others = (own.sum() - own) / (count - 1)
    usual: npt.NDArray[np.bool_] = fdtrc(freedom, (count - 1) * freedom, own / others) >= OUTLIER
    spread = float(np.log(own[usual]).var(ddof=1)) * (1 + math.sqrt(2 / (usual.sum() - 1)))
    excess = spread - float(zeta(2, freedom / 2))  # zeta(2, x) is the trigamma function
    limit = (count - 2) * freedom / 4
    prior = np.where(usual, min(2 * _trigamma_inverse(excess), limit) if excess > 0 else limit, 0.0)
    variance: Floats = (prior * CAUTION * own[usual].mean() + freedom * own) / (prior + freedom)
    return variance, prior


def noise_of_rows(logs: Floats) -> Floats:
    """Return each row's variance, without the effects of rounds on all rows. The axes of ``logs`` are rows and rounds.

    For k rows, Grubbs's estimate is (k (k − 1) Sᵢ − Σ S) / ((k − 1) (k − 2)). Sᵢ is the mean square of row i after subtracting its own mean
    and the mean of each round. By chance, the estimate for a steady row may be near or below zero. With n rounds, the result is therefore
    at least 2 / (n − 1) · Sᵢ k / (k − 1). With three rounds, this minimum is Sᵢ k / (k − 1). Its expected value is a weighted mean of the
    row's own variance, with a weight of (k − 2) / (k − 1), and the average variance of all rows.
    """
    count, rounds = logs.shape
    rest = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0, keepdims=True) + logs.mean()
    squares = (rest**2).sum(axis=1) / (rounds - 1)
    found: Floats = (count * (count - 1) * squares - squares.sum()) / ((count - 1) * (count - 2))
    at_least: Floats = 2 / (rounds - 1) * squares * count / (count - 1)
    return np.maximum(found, at_least)


def _trigamma_inverse(value: float) -> float:
    """Return the argument at which the trigamma function is ``value``, by Newton's method on its reciprocal (Smyth, appendix)."""
    from scipy.special import zeta

    found, step = 0.5 + 1 / value, math.inf
    while abs(step) > 1e-9 * found:  # convergence is quadratic, so the error after the last step is far smaller
        trigamma = float(zeta(2, found))
        step = trigamma * (trigamma / value - 1) / (2 * float(zeta(3, found)))
        found += step
    return found
