"""Samples to a ``Distribution``: the one place where the harness computes percentiles, so that all generators' figures agree.

Percentiles are exact (nearest rank on the samples themselves), and withheld where fewer than ten samples lie beyond them. The
histogram that is kept for merging has three significant digits. Cost: one sort of the distinct values.
"""

from __future__ import annotations

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from httpbench.model import Distribution

Integers = NDArray[np.int64]

SAMPLES_BEYOND = 10
"""A percentile is the business of the samples beyond it: with fewer than this many it says more of chance than of the target."""

PERCENTILES = {"p25": 2500, "p50": 5000, "p75": 7500, "p90": 9000, "p95": 9500, "p99": 9900, "p99_9": 9990, "p99_99": 9999}
"""In hundredths of a percent: ranks are then computed in whole numbers, where floating point would sometimes be off by one."""

HISTOGRAM_MAX_NS = 2 * 3600 * 10**9  # twice the longest timeout that a load may have
HISTOGRAM_DIGITS = 3
EXACT_BITS = 11  # values below 2**11 are told apart one by one by a histogram of three digits


def distribution(values_ns: Integers, counts: Integers | None = None) -> Distribution:
    """The distribution of times in ns, in any order, each ``counts`` times (once unless given).

    Standard deviation is that of the whole, not the estimate from a sample: every request is in it.
    """
    values, counts = _sorted_distinct(values_ns, counts)
    total = int(counts.sum())
    if total == 0:
        return Distribution(count=0)
    microseconds = values / 1000.0
    mean = float(np.average(microseconds, weights=counts))
    variance = float(np.average((microseconds - mean) ** 2, weights=counts))
    cumulative = np.cumsum(counts)
    return Distribution(
        count=total,
        min=float(microseconds[0]),
        mean=mean,
        stddev=variance**0.5,
        max=float(microseconds[-1]),
        tm99_9=_trimmed_mean(microseconds, counts, cumulative),
        histogram=_encoded(values, counts),
        **{name: _percentile(microseconds, cumulative, share) for name, share in PERCENTILES.items()},
    )


def _sorted_distinct(values: Integers, counts: Integers | None) -> tuple[Integers, Integers]:
    distinct, inverse = np.unique(values, return_inverse=True)
    sums = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sums, inverse, 1 if counts is None else counts)
    present = sums > 0
    return distinct[present], sums[present]


def _percentile(microseconds: NDArray[np.float64], cumulative: Integers, share: int) -> float | None:
    """The smallest value that at least ``share`` / 10 000 of the samples do not exceed."""
    total = int(cumulative[-1])
    rank = -(-total * share // 10_000)
    if total - rank < SAMPLES_BEYOND:
        return None
    return float(microseconds[np.searchsorted(cumulative, rank)])


def _trimmed_mean(microseconds: NDArray[np.float64], counts: Integers, cumulative: Integers) -> float | None:
    """The mean without the lowest and the highest 0.1 %; ``None`` where that is less than one sample at each end."""
    total = int(cumulative[-1])
    cut = total // 1000
    if cut == 0:
        return None
    below = np.clip(cumulative, cut, total - cut)
    kept = np.diff(below, prepend=cut)
    return float(np.average(microseconds, weights=kept))


def _encoded(values: Integers, counts: Integers) -> str:
    """HdrHistogram V2, compressed, base64. Values that fall into one slot are recorded together: slots are few, samples are not."""
    histogram = HdrHistogram(1, HISTOGRAM_MAX_NS, HISTOGRAM_DIGITS)
    _, bits = np.frexp(values.astype(np.float64))
    shift = np.maximum(bits - EXACT_BITS, 0).astype(np.int64)
    slots, sums = _sorted_distinct(values >> shift << shift, counts)
    for value, count in zip(slots.tolist(), sums.tolist(), strict=True):
        histogram.record_value(min(value, HISTOGRAM_MAX_NS), count)
    return str(histogram.encode().decode("ascii"))
