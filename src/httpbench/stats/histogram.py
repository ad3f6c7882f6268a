"""Merge the histograms of a cell's rounds, and compute intervals of their percentiles.

The percentiles of all samples can't be computed from the percentiles of single rounds, so the histograms of the rounds are merged. Merging
takes a few milliseconds per histogram, which is fast enough for an export but too slow for a loop.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.model import Distribution
from httpbench.quantiles import Samples, decoded, figures_us, percentile_us, percentiles_us, recorded, together
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval, Floats, jackknife

if TYPE_CHECKING:
    from httpbench.quantiles import Integers

RESOLUTION = 0.001
"""Relative width of a bucket. Histograms have three significant digits, like those of the native load generator."""

CURVE_SHARES = (100, 80, 60, 50, 40, 30, 20, 15)
"""Percentages of samples above each point of a curve, for the points below 90%. From 90% to 99%, the percentages are a tenth of these, and
so on."""

CURVE_NINES = 6
"""Number of nines that a curve covers. The curve ends below 99.9999%."""


def merge(encoded: Sequence[str]) -> HdrHistogram:
    """Return one histogram of all samples.

    ``encoded`` contains one or more histograms in the format HdrHistogram V2, compressed and encoded in base64. Raises :class:`LoadError`
    if a histogram can't be decoded.
    """
    if not encoded:
        raise ValueError("nothing to merge")
    parts = [decoded(text) for text in encoded]
    digits = max(part.significant_figures for part in parts)
    whole = HdrHistogram(1, max(part.highest_trackable_value for part in parts), digits)
    for part in parts:
        whole.add(part)
    return whole


def describe(histogram: HdrHistogram) -> Distribution:
    """Return the distribution of a histogram of times in ns. It contains the statistics in µs and the encoded histogram."""
    samples = recorded(histogram)
    if samples.total == 0:
        return Distribution(count=0)
    return Distribution(count=samples.total, histogram=histogram.encode().decode("ascii"), **figures_us(samples))


def merged(distributions: Sequence[Distribution | None]) -> Distribution | None:
    """Return the distribution of all samples of several rounds; ``None`` unless each round kept its histogram."""
    encoded = _histograms(distributions)
    return describe(merge(encoded)) if encoded else None


def merged_intervals(distributions: Sequence[Distribution | None]) -> dict[str, ConfidenceInterval]:
    """Return 95% intervals of the percentiles over all rounds, in µs, by name; empty for fewer than three rounds with histograms.

    The unit of replication is the round, so the intervals depend on how much each percentile changes when a round is left out.
    """
    encoded = _histograms(distributions)
    if len(encoded) < ROUNDS_MIN:
        return {}
    values, counts = _side_by_side([recorded(decoded(text)) for text in encoded])
    total = counts.sum(axis=0)
    whole = percentiles_us(values, total)
    without = [percentiles_us(values, total - part) for part in counts]
    found = {}
    for name, value in whole.items():
        others = [part.get(name, 0.0) for part in without]
        if min(value, *others) > 0 and (bounds := jackknife(value, others, RESOLUTION)):
            found[name] = bounds
    return found


def percentile_curve_us(distributions: Sequence[Distribution | None]) -> list[tuple[float, float]]:
    """Return percentiles and their values in µs over all rounds, in ascending order.

    The ranges from 0% to 90%, from 90% to 99%, and so on have the same number of points, so the points are about evenly spaced on a
    logarithmic axis. Unknown percentiles are omitted. The result is empty unless each round kept its histogram.
    """
    encoded = _histograms(distributions)
    if not encoded:
        return []
    samples = together([recorded(decoded(text)) for text in encoded])
    percentiles = (round(100 - share / 10**nines, nines + 1) for nines in range(CURVE_NINES) for share in CURVE_SHARES)
    found = ((percentile, percentile_us(samples, percentile)) for percentile in percentiles)
    return [(percentile, value) for percentile, value in found if value is not None]


def _histograms(distributions: Sequence[Distribution | None]) -> list[str]:
    """Return the histograms of all rounds; empty if any round lacks one."""
    encoded = [distribution.histogram for distribution in distributions if distribution is not None and distribution.histogram]
    return encoded if len(encoded) == len(distributions) else []


def _side_by_side(parts: Sequence[Samples]) -> tuple[Floats, Integers]:
    """Return the highest value of each nonempty bucket, shape (buckets,), and the counts in all ``parts``, shape (parts, buckets)."""
    values = np.unique(np.concatenate([part.highest for part in parts]))
    counts = np.zeros((len(parts), len(values)), dtype=np.int64)
    for row, part in zip(counts, parts, strict=True):
        row[np.searchsorted(values, part.highest)] = part.counts
    return values, counts
