"""Simulate how often ranks are wrong, and how many pairs of rows they tell apart, for several kinds of noise and numbers of rounds.

    python benchmarks/ranks.py [--tables 1000] [--rows 10] [--rounds 3 5 10]

Each line has four percentages for each method. "False" is the share of tables with at least one false claim if all rows are equal. It
should be at most 5%. The other three are for tables in which each row is 20% faster than the one before (0.18 in logarithms). "True" is the
share of these tables in which every range contains the true rank. It should be at least 95%. "Found" is the share of pairs that the method
tells apart. "Best" is the share of tables whose fastest row has rank 1 alone.

The former method raised the variance of each row to at least the mean variance of the table. The example is a table with four rows, one of
which had a bad round.

Both methods assume that a round affects all rows equally, apart from the noise of each row. The last kind of noise breaks this assumption:
a round affects one half of the rows by 5%, for example because they use more memory bandwidth.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from itertools import combinations

import numpy as np

from httpbench.stats.interval import Floats, centers, nearest_to_zero, p_value
from httpbench.stats.paired import holm
from httpbench.stats.ranks import AllPairs, RankRange

NOISE = 0.05
STEP = 0.18
DRIFT = 0.1
"""Standard deviation of the whole machine's speed from round to round."""

Shape = tuple[int, int, int]


def _normal(random: np.random.Generator, deviations: Floats, shape: Shape) -> Floats:
    return random.normal(0, 1, shape) * deviations[:, np.newaxis]


KINDS: dict[str, Callable[[np.random.Generator, Shape], Floats]] = {
    "normal": lambda random, shape: random.normal(0, NOISE, shape),
    "heavy tails": lambda random, shape: random.standard_t(3, shape) * NOISE / math.sqrt(3),
    "variances differ 7-fold": lambda random, shape: _normal(
        random, NOISE * np.where(np.arange(shape[1]) % 2, 0.5, 0.5 * math.sqrt(7)), shape
    ),
    "deviations differ 7-fold": lambda random, shape: _normal(random, np.where(np.arange(shape[1]) % 2, 0.02, 0.14), shape),
    "one row ten times as noisy": lambda random, shape: _normal(random, np.where(np.arange(shape[1]) == 0, 0.2, 0.02), shape),
    "deviations from 1% to 20%": lambda random, shape: _normal(random, np.geomspace(0.01, 0.2, shape[1]), shape),
    "dips of 15% in a tenth": lambda random, shape: random.normal(0, NOISE, shape) - 0.15 * (random.random(shape) < 0.1),
    "rounds affect half the rows": lambda random, shape: (
        random.normal(0, 0.01, shape) + (np.arange(shape[1]) % 2)[:, np.newaxis] * random.normal(0, NOISE, (shape[0], 1, shape[2]))
    ),
}

EXAMPLE = {
    "c/io_uring": (302_000, 300_000, 296_000),
    "c/nginx": (161_000, 211_000, 206_000),
    "rust/actix-web": (199_000, 203_000, 196_000),
    "golang/fasthttp": (181_000, 185_000, 178_000),
}
"""Throughput by round."""


def now(rows: Floats) -> list[RankRange]:
    """Rank the rows, which contain logarithms of results, as httpbench does."""
    return AllPairs([dict(enumerate(row)) for row in np.exp(rows).tolist()]).ranges(range(len(rows)))


def former(rows: Floats) -> list[RankRange]:
    """Rank rows with the former method, which raises each variance to at least the table's mean and has few degrees of freedom."""
    count, rounds = rows.shape
    rest = rows - rows.mean(axis=1, keepdims=True) - rows.mean(axis=0, keepdims=True) + rows.mean()
    squares = (rest**2).sum(axis=1) / (rounds - 1)
    own = np.maximum((count * (count - 1) * squares - squares.sum()) / ((count - 1) * (count - 2)), 0.0)
    variance, freedom = np.maximum(own, own.mean()), np.where(own > own.mean(), 1.0, count - 1.0) * (rounds - 1)
    pairs = list(combinations(range(count), 2))
    apart = {(one, other): nearest_to_zero(*centers(rows[one] - rows[other])) for one, other in pairs}
    found = []
    for one, other in pairs:
        total = variance[one] + variance[other]
        weight = total**2 / (variance[one] ** 2 / freedom[one] + variance[other] ** 2 / freedom[other])
        found.append(p_value(apart[one, other], math.sqrt(total / rounds), float(weight)))
    above, below = [0] * count, [0] * count
    for (one, other), p in zip(pairs, holm(found), strict=True):
        if p <= 0.05:
            better, worse = (one, other) if apart[one, other] > 0 else (other, one)
            above[worse] += 1
            below[better] += 1
    return [RankRange(1 + better, count - worse) for better, worse in zip(above, below, strict=True)]


METHODS = {"former": former, "now": now}


def rates(method: Callable[[Floats], list[RankRange]], noise: Floats) -> tuple[float, float, float, float]:
    """Return the percentages "false", "true", "found" and "best" that the module's docstring defines."""
    _, count, _ = noise.shape
    everything = RankRange(1, count)
    steps = STEP * np.arange(count)[:, np.newaxis]
    false = [any(found != everything for found in method(table)) for table in noise]
    ranked = [method(table + steps) for table in noise]
    true = [all(rank.best <= count - row <= rank.worst for row, rank in enumerate(table)) for table in ranked]
    told = [sum(found.best - 1 for found in table) / math.comb(count, 2) for table in ranked]
    best = [table[-1] == RankRange(1, 1) for table in ranked]
    return tuple(100 * float(np.mean(values)) for values in (false, true, told, best))  # type: ignore[return-value]


def main() -> None:
    """Print a table for each number of rounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=1000)
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--rounds", type=int, nargs="+", default=[3, 5, 10])
    options = parser.parse_args()
    print(f"{'example':28}" + "".join(f"{name:>28}" for name in METHODS))
    logs = np.log(np.array(list(EXAMPLE.values()), dtype=np.float64))
    for name, *ranks in zip(EXAMPLE, *(method(logs) for method in METHODS.values()), strict=True):
        print(f"{name:28}" + "".join(f"{rank.best:>26}–{rank.worst}" for rank in ranks))
    for rounds in options.rounds:
        print(f"\n{options.rows} rows, {rounds} rounds, {options.tables} tables: false %, true %, found %, best %")
        print(f"{'':28}" + "".join(f"{name:>28}" for name in METHODS))
        for kind, draw in KINDS.items():
            random = np.random.default_rng(1)
            shape = (options.tables, options.rows, rounds)
            noise = draw(random, shape) + random.normal(0, DRIFT, (options.tables, 1, rounds))
            columns = [" ".join(f"{value:6.1f}" for value in rates(method, noise)) for method in METHODS.values()]
            print(f"{kind:28}" + "".join(f"{column:>28}" for column in columns), flush=True)


if __name__ == "__main__":
    main()
