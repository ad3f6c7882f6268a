"""Which targets of a table are significantly faster than which others, and so which rank each has.

A table demands much of few rounds: ten rows are 45 pairs, and a pair of three rounds has two degrees of freedom. By themselves such pairs
can tell hardly anything apart, not even one server with three times the throughput of another. But all rows of a round were measured within
the same minutes, so they say together what the round did to all, and each then shows how much it varies by itself. In logarithms:

    figure of row i in round j = row i + round j + noise, of a variance σᵢ² that each row has of its own

Source: F. E. Grubbs, «On estimating precision of measuring instruments and product variability», Journal of the American Statistical
Association 43, 1948. A few rounds may lie close together by chance, so no row counts as steadier than the average of the table. The
degrees of freedom of a pair's variance follow F. E. Satterthwaite, «An approximate distribution of estimates of variance components»,
Biometrics Bulletin 2, 1946. ``tests/unit/stats/test_interval_coverage.py`` simulates the result: for identical targets, also for some that
are less steady than others.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN, Floats, centres, nearest_to_zero, p_value
from httpbench.stats.paired import ROUNDING, ROUNDS_PATIENCE, Rounds, holm, log_ratios

ROWS_MIN = 4
"""With fewer rows the noise of each cannot be separated from that of the others, so each pair is compared by itself."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two rows: how far apart, and how sure that is."""

    one: int
    other: int
    distance: float
    """Of ``one`` above ``other``: the mean logarithm of their ratio, whichever seventh of the rounds is left out."""
    variance: float
    """Of that logarithm from round to round."""
    rounds: int
    freedom: float = 1.0
    """Degrees of freedom of the variance, for each round beyond the first."""

    def p(self, rounds: int) -> float:
        """How often identical targets would lie this far apart, in this many rounds that vary as these did."""
        distance = max(abs(self.distance) - ROUNDING, 0.0)
        return p_value(distance, math.sqrt(self.variance / rounds), self.freedom * (rounds - 1))


def ranks(rows: Sequence[Rounds]) -> list[int]:
    """For each row 1 + how many rows are higher beyond doubt, all pairs compared and corrected for their number.

    Rows that tie with the best share rank 1, and so on. A row whose rounds lie far apart may have a better rank
    than its median's place: nothing has been shown to be above it.
    """
    pairs = list(_pairs(rows))
    adjusted = holm([pair.p(pair.rounds) for pair in pairs])
    above = [0] * len(rows)
    for pair, p in zip(pairs, adjusted, strict=True):
        if p <= 1 - CONFIDENCE:
            above[pair.other if pair.distance > 0 else pair.one] += 1
    return [1 + count for count in above]


def pooled(rows: Sequence[Rounds]) -> list[int]:
    """The rows that are ranked together: those that keep the most figures in the rounds that all of them have.

    Rows are ranked over common rounds. So a row that failed in two rounds of five would cost all others these rounds, and is left out;
    one that failed in one round of fifteen is not. Below :data:`ROWS_MIN` each pair has rounds of its own, and all are kept.
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
    """How many rounds would tell at least one pair of rows apart, if further rounds varied as these did.

    The least n with p(n) · pairs ≤ 5%, for the clearest pair; ``None`` where even :data:`ROUNDS_PATIENCE` would not.
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
        apart = nearest_to_zero(*centres(logs[one] - logs[other]))
        pooled = float(both.sum() ** 2 / (both**2 / freedom[[one, other]]).sum())
        yield Pair(one, other, apart, float(both.sum()), len(common), pooled)


def _pairs_alone(rows: Sequence[Rounds]) -> Iterator[Pair]:
    for one, other in combinations(range(len(rows)), 2):
        logs = log_ratios(rows[one], rows[other])
        if len(logs) >= ROUNDS_MIN:
            yield Pair(one, other, nearest_to_zero(*centres(logs)), float(logs.var(ddof=1)), len(logs))


def noise_of_rows(logs: Floats) -> Floats:
    """The variance of each row (first axis) over rounds (second axis), free of what the rounds did to all rows; none below zero.

    Of k rows (k (k − 1) Sᵢ − Σ S) / ((k − 1) (k − 2)). Sᵢ is the mean square of what is left of row i without its own mean and each
    round's.
    """
    count, rounds = logs.shape
    rest = logs - logs.mean(axis=1, keepdims=True) - logs.mean(axis=0, keepdims=True) + logs.mean()
    squares = (rest**2).sum(axis=1) / (rounds - 1)
    found: Floats = np.maximum((count * (count - 1) * squares - squares.sum()) / ((count - 1) * (count - 2)), 0.0)
    return found
