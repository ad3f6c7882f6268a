"""Rank the targets of a table by significant differences.

A table asks a lot of a few rounds: ten rows make 45 pairs, and a pair with three rounds has two degrees of freedom. On their own, such
pairs hardly show any difference, not even between servers whose throughput differs by a factor of three. But all rows of a round were
measured within the same minutes. Together they show how the round affected all of them, which leaves the noise of each row. In logarithms:

    result of row i in round j = row i + round j + noise with a variance σᵢ² of row i

Source: F. E. Grubbs, "On estimating precision of measuring instruments and product variability", Journal of the American Statistical
Association 43, 1948. A few rounds may be close together by chance, so no row counts as less noisy than the average of the table. The
degrees of freedom of a pair's variance follow F. E. Satterthwaite, "An approximate distribution of estimates of variance components",
Biometrics Bulletin 2, 1946. ``tests/unit/stats/test_interval_coverage.py`` simulates the error rate for identical targets, including
targets with unequal noise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN, Floats, centers, nearest_to_zero, p_value
from httpbench.stats.paired import ROUNDING, ROUNDS_PATIENCE, Rounds, holm, log_ratios

ROWS_MIN = 4
"""Minimum number of rows for separating their noise. With fewer rows, each pair is compared on its own."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows, with their distance and its uncertainty."""

    one: int
    other: int
    distance: float
    """Mean logarithm of the ratio ``one`` / ``other``, whichever seventh of the rounds is left out."""
    variance: float
    """Variance of that logarithm over rounds."""
    rounds: int
    freedom: float = 1.0
    """Degrees of freedom of the variance per round after the first."""

    def p(self, rounds: int) -> float:
        """Return how often identical targets would be this far apart in this number of equally noisy rounds."""
        distance = max(abs(self.distance) - ROUNDING, 0.0)
        return p_value(distance, math.sqrt(self.variance / rounds), self.freedom * (rounds - 1))


def ranks(rows: Sequence[Rounds]) -> list[int]:
    """Return for each row 1 + the number of rows that are significantly higher, corrected for the number of pairs.

    Rows that tie with the best share rank 1, and so on. A row with noisy rounds may have a better rank than its median suggests, because no
    other row is significantly above it.
    """
    pairs = list(_pairs(rows))
    adjusted = holm([pair.p(pair.rounds) for pair in pairs])
    above = [0] * len(rows)
    for pair, p in zip(pairs, adjusted, strict=True):
        if p <= 1 - CONFIDENCE:
            above[pair.other if pair.distance > 0 else pair.one] += 1
    return [1 + count for count in above]


def pooled(rows: Sequence[Rounds]) -> list[int]:
    """Return the rows to rank together: those that keep the most results in the rounds they have in common.

    Rows are ranked over common rounds. A row that failed in two of five rounds would cost all others these rounds, so it is left out. A row
    that failed in one of fifteen rounds is kept. Below :data:`ROWS_MIN` each pair uses its own rounds, and all rows are kept.
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


def rounds_to_rank(rows: Sequence[Rounds]) -> int | None:
    """Return the number of rounds that would separate at least one pair of rows, if the noise stays the same.

    This is the smallest n with p(n) · pairs ≤ 5% for the clearest pair, or ``None`` if it exceeds :data:`ROUNDS_PATIENCE`.
    """
    pairs = list(_pairs(rows))
    if not pairs:
        return None
    counts = range(min(pair.rounds for pair in pairs) + 1, ROUNDS_PATIENCE + 1)
    return next((n for n in counts if min(pair.p(n) for pair in pairs) * len(pairs) <= 1 - CONFIDENCE), None)


def _pairs(rows: Sequence[Rounds]) -> Iterator[Pair]:
    common = set.intersection(*(set(row) for row in rows)) if rows else set()
    if len(rows) < ROWS_MIN or len(common) < ROUNDS_MIN or min(row[number] for row in rows for number in common) <= 0:
        yield from _pairs_alone(rows)
        return
    logs = np.log(np.array([[row[number] for number in sorted(common)] for row in rows], dtype=np.float64))
    count = len(rows)
    own = noise_of_rows(logs)
    floor = max(float(own.mean()), ROUNDING**2)
    variance = np.maximum(own, floor)
    freedom = np.where(own > floor, 1.0, count - 1.0)
    for one, other in combinations(range(count), 2):
        both = variance[[one, other]]
        apart = nearest_to_zero(*centers(logs[one] - logs[other]))
        pooled = float(both.sum() ** 2 / (both**2 / freedom[[one, other]]).sum())
        yield Pair(one, other, apart, float(both.sum()), len(common), pooled)


def _pairs_alone(rows: Sequence[Rounds]) -> Iterator[Pair]:
    for one, other in combinations(range(len(rows)), 2):
        logs = log_ratios(rows[one], rows[other])
        if len(logs) >= ROUNDS_MIN:
            yield Pair(one, other, nearest_to_zero(*centers(logs)), float(logs.var(ddof=1)), len(logs))


def noise_of_rows(logs: Floats) -> Floats:
    """Return the variance of each row (first axis) over rounds (second axis), without the effect of each round on all rows.

    For k rows, it is (k (k − 1) Sᵢ − Σ S) / ((k − 1) (k − 2)), but not below zero. Sᵢ is the mean square of row i after subtracting its own
    mean and the mean of each round.
    """
    count, rounds = logs.shape
    rest = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0, keepdims=True) + logs.mean()
    squares = (rest**2).sum(axis=1) / (rounds - 1)
    found: Floats = np.maximum((count * (count - 1) * squares - squares.sum()) / ((count - 1) * (count - 2)), 0.0)
    return found
