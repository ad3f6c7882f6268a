"""Find change points: the runs at which a series of results changes to a new level.

Two published methods are combined:

- *Optimal partitioning* proposes change points. It minimizes the squared distance of the values from piecewise constant levels, plus a
  penalty per level, and finds the exact minimum (B. Jackson et al., "An algorithm for optimal partitioning of data on an interval", IEEE
  Signal Processing Letters 12, 2005). PELT gives the same result (R. Killick, P. Fearnhead, I. A. Eckley, Journal of the American
  Statistical Association 107, 2012). Unlike binary segmentation, optimal partitioning also finds a change that is soon reversed.
- A *permutation test* decides which proposals are significant, as in E-divisive (D. S. Matteson, N. A. James, Journal of the American
  Statistical Association 109, 2014), which MongoDB uses for its performance tests (D. Daly et al., ICPE 2020). Each proposed change is
  tested with the runs between its two neighboring changes, and all possible positions of the change are considered. The least certain
  change is removed repeatedly until all remaining changes are significant.

Noise is estimated from the median absolute deviation of differences between neighboring runs. A change of the level hardly affects the
median. Outliers are clipped to three standard deviations from the median of their neighbors, so that they aren't mistaken for levels (F. R.
Hampel, Journal of the American Statistical Association 69, 1974). Positive autocorrelation increases the noise estimate, as in S. Chakar et
al., "A robust approach for estimating change-points in the mean of an AR(1) process", Bernoulli 23, 2017.

``tests/unit/stats/test_change_points.py`` simulates the error rates. ``benchmarks/change_points.py`` runs longer simulations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.stats.interval import Floats

RUNS_MAX = 500
"""Maximum number of runs. The computation time grows with the square of the number of runs; 500 runs take 20 ms."""

LEVEL_MIN = 3
"""Minimum number of runs in a level, because one or two runs may deviate for any reason."""

PENALTY = 3.5**2
"""Penalty per level: the squared distance between two levels, in standard errors, above which a change is proposed."""

SIGNIFICANCE = 0.02
PERMUTATIONS, BATCH = 999, 111

REACH = 3.0
"""Maximum distance of a run from the median of its neighbors, in standard deviations. Larger distances are clipped."""
NEIGHBORS = 3
"""Number of neighbors on each side of a run. The median also includes the run itself."""

CORRELATION_MAX = 0.5
CORRELATION_ERRORS = 2.5
"""Possible error of an autocorrelation estimate, as a multiple of 1 / √runs. It is subtracted from the estimate."""
CORRELATION_RUNS_MIN = 40
"""Minimum number of runs for an autocorrelation estimate. With fewer runs, the estimate is mostly noise and would hide changes."""

_DEVIATIONS = 1.4826
"""Ratio of the standard deviation of normally distributed values to their median absolute deviation."""


def change_points(values: Sequence[float]) -> list[int]:
    """Return the index of the first value of each new level, in ascending order.

    The result is deterministic. Values must be above zero.
    """
    logs = np.log(np.asarray(values, dtype=np.float64))
    if len(logs) < 2 * LEVEL_MIN:
        return []
    assert len(logs) <= RUNS_MAX, "the caller bounds the series"
    noise = _median_size(np.diff(logs)) * _DEVIATIONS / math.sqrt(2)
    tamed = _tamed(logs, noise) if noise > 0 else logs
    scale = noise * _widened(tamed) or float(np.finfo(np.float64).eps) * (1 + float(np.abs(logs).max()))
    return _significant(tamed, _proposed((tamed - np.median(tamed)) / scale))


def _median_size(values: Floats) -> float:
    return float(np.median(np.abs(values)))


def _tamed(logs: Floats, noise: float) -> Floats:
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(logs, NEIGHBORS, constant_values=np.nan), 2 * NEIGHBORS + 1)
    near = np.nanmedian(windows, axis=1)
    return np.clip(logs, near - REACH * noise, near + REACH * noise)


def _widened(logs: Floats) -> float:
    """Return the factor by which autocorrelation increases the standard deviation of the mean of many values.

    The comparison is with independent values whose neighbors differ by the same amount.
    """
    neighbors, next_ones = _median_size(np.diff(logs)), _median_size(logs[2:] - logs[:-2])
    if neighbors == 0 or len(logs) < CORRELATION_RUNS_MIN:
        return 1.0
    correlation = (next_ones / neighbors) ** 2 - 1 - CORRELATION_ERRORS / math.sqrt(len(logs))
    correlation = min(max(correlation, 0.0), CORRELATION_MAX)
    return math.sqrt(1 + correlation) / (1 - correlation)


def _proposed(scaled: Floats) -> list[int]:
    """Return the change points that optimal partitioning proposes.

    For each possible end of the series, the method finds the best start of the last level.
    """
    count = len(scaled)
    sums = np.concatenate(([0.0], np.cumsum(scaled)))
    gain = np.full(count + 1, -np.inf)
    gain[0] = 0.0
    begins = [0] * (count + 1)
    for end in range(LEVEL_MIN, count + 1):
        firsts = np.arange(end - LEVEL_MIN + 1)
        gains = gain[firsts] + (sums[end] - sums[firsts]) ** 2 / (end - firsts) - PENALTY
        begins[end] = int(np.argmax(gains))
        gain[end] = gains[begins[end]]
    found: list[int] = []
    end = begins[count]
    while end > 0:
        found.append(end)
        end = begins[end]
    return found[::-1]


def _significant(logs: Floats, proposed: Sequence[int]) -> list[int]:
    """Remove the least certain change point repeatedly until all remaining ones are significant."""
    found = list(proposed)
    random = np.random.default_rng(0)
    while found:
        bounds = [0, *found, len(logs)]
        chances = [_chance(logs[bounds[place] : bounds[place + 2]], random) for place in range(len(found))]
        least = int(np.argmax(chances))
        if chances[least] <= SIGNIFICANCE:
            break
        del found[least]
    return found


def _chance(logs: Floats, random: np.random.Generator) -> float:
    """Return the probability that a random order of these values has a split at least as clear as the clearest split in the given order.

    The simulation stops early when it has found too many such orders for the split to be significant. Source: J. Besag, P. Clifford,
    "Sequential Monte Carlo p-values", Biometrika 78, 1991.
    """
    centered = logs - logs.mean()
    seen = float(_clearest(centered[None])[0]) * (1 - 1e-12)
    alike = tried = 0
    while tried < PERMUTATIONS and alike <= SIGNIFICANCE * PERMUTATIONS:
        orders = random.permuted(np.tile(centered, (BATCH, 1)), axis=1)
        alike += int((_clearest(orders) >= seen).sum())
        tried += BATCH
    return (alike + 1) / (tried + 1)


def _clearest(rows: Floats) -> Floats:
    """Return the clarity of the clearest split of each row: how far the mean of the first part is from zero, in standard errors.

    The mean of each row must be zero, and the noise must be constant within each row.
    """
    count = rows.shape[1]
    sizes = np.arange(LEVEL_MIN, count - LEVEL_MIN + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    clearest: Floats = np.max(np.abs(sums) / np.sqrt(sizes * (count - sizes) / count), axis=1)
    return clearest
