"""Where a series of figures changed its level: change points of runs that follow each other in time.

Two published methods, one after the other:

- *Optimal partitioning* proposes. It minimises the squared distance from piecewise constant levels plus a penalty for each level, exactly
  (B. Jackson et al., «An algorithm for optimal partitioning of data on an interval», IEEE Signal Processing Letters 12, 2005). PELT has the
  same result (R. Killick, P. Fearnhead, I. A. Eckley, Journal of the American Statistical Association 107, 2012). It finds a short change
  back and forth, which binary segmentation overlooks.
- A *permutation test* decides, as in E-divisive (D. S. Matteson, N. A. James, Journal of the American Statistical Association 109, 2014),
  which MongoDB uses for its performance tests (D. Daly et al., ICPE 2020). Each proposed change is tested between its neighbours, over all
  places that it could have. The least certain goes first, until all that remain are significant.

Noise is measured where levels do not matter, in differences of neighbours (median absolute deviation). A single run that is far off is
moved to at most three standard deviations from the median of its neighbours, so heavy tails look like noise and not like levels
(F. R. Hampel, Journal of the American Statistical Association 69, 1974). Positive autocorrelation widens the noise, by the estimator of
S. Chakar et al., «A robust approach for estimating change-points in the mean of an AR(1) process», Bernoulli 23, 2017.

What that keeps is simulated in ``tests/unit/stats/test_change_points.py``, and longer in ``benchmarks/change_points.py``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.stats.interval import Floats

RUNS_MAX = 500
"""Time grows with the square of their number: so many take 20 ms."""

LEVEL_MIN = 3
"""Runs of a level at least: one run, or two, may be off for any reason."""

PENALTY = 3.5**2
"""Of a level: its squared distance from the next, in standard errors, above which it is proposed."""

SIGNIFICANCE = 0.02
PERMUTATIONS, BATCH = 999, 111

REACH = 3.0
"""Standard deviations that a run may be off the median of its neighbours."""
NEIGHBOURS = 3
"""On each side."""

CORRELATION_MAX = 0.5
CORRELATION_ERRORS = 2.5
"""An autocorrelation counts by what exceeds this ÷ √runs: the rest may be an error of the estimate."""
CORRELATION_RUNS_MIN = 40
"""In fewer runs the estimate is noise, and would hide changes."""

_DEVIATIONS = 1.4826
"""Standard deviation of normal values ÷ their median absolute deviation."""


def change_points(values: Sequence[float]) -> list[int]:
    """Index of the first value of each new level, ascending; the same values give the same indices. Values are above zero."""
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
    windows = np.lib.stride_tricks.sliding_window_view(np.pad(logs, NEIGHBOURS, constant_values=np.nan), 2 * NEIGHBOURS + 1)
    near = np.nanmedian(windows, axis=1)
    return np.clip(logs, near - REACH * noise, near + REACH * noise)


def _widened(logs: Floats) -> float:
    """Standard deviation of a long mean ÷ that of independent values whose neighbours differ as much."""
    neighbours, next_ones = _median_size(np.diff(logs)), _median_size(logs[2:] - logs[:-2])
    if neighbours == 0 or len(logs) < CORRELATION_RUNS_MIN:
        return 1.0
    correlation = (next_ones / neighbours) ** 2 - 1 - CORRELATION_ERRORS / math.sqrt(len(logs))
    correlation = min(max(correlation, 0.0), CORRELATION_MAX)
    return math.sqrt(1 + correlation) / (1 - correlation)


def _proposed(scaled: Floats) -> list[int]:
    """By optimal partitioning: for each end the best beginning of the last level."""
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
    """Those that remain when the least certain has been taken away again and again."""
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
    """How often a random order of these values has a split as clear as the clearest one here. Ends early where that is not rare.

    Source: J. Besag, P. Clifford, «Sequential Monte Carlo p-values», Biometrika 78, 1991.
    """
    centred = logs - logs.mean()
    seen = float(_clearest(centred[None])[0]) * (1 - 1e-12)
    alike = tried = 0
    while tried < PERMUTATIONS and alike <= SIGNIFICANCE * PERMUTATIONS:
        orders = random.permuted(np.tile(centred, (BATCH, 1)), axis=1)
        alike += int((_clearest(orders) >= seen).sum())
        tried += BATCH
    return (alike + 1) / (tried + 1)


def _clearest(rows: Floats) -> Floats:
    """Of each row, whose mean is zero: the largest distance of a part from zero, in standard errors of equal noise."""
    count = rows.shape[1]
    sizes = np.arange(LEVEL_MIN, count - LEVEL_MIN + 1)
    sums = np.cumsum(rows, axis=1)[:, sizes - 1]
    clearest: Floats = np.max(np.abs(sums) / np.sqrt(sizes * (count - sizes) / count), axis=1)
    return clearest
