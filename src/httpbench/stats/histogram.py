"""Histograms: decoded, merged and described, with percentiles only where enough samples lie beyond them.

Percentiles of several rounds cannot be averaged into percentiles of all, so rounds are merged as histograms. That takes
a few milliseconds for each histogram: fine for a report, too slow for a loop.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hdrh.histogram import HdrHistogram

from httpbench.errors import LoadError
from httpbench.model import Distribution
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval, jackknife

SAMPLES_BEYOND = 10
"""A percentile needs so many samples beyond it: with fewer, it is the story of a handful of requests."""

RESOLUTION = 0.001
"""Relative width of a bucket: three significant digits, which is what our load generator records with."""

TRIMMED_SHARE = 0.001
"""tm99_9 leaves out this share of samples at either end."""

PERCENTILES = {"p25": 25.0, "p50": 50.0, "p75": 75.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
"""Field of :class:`Distribution` → percentile."""

_NS_PER_US = 1000.0
_LOWEST_NS = 1

_Floats = npt.NDArray[np.float64]
_Counts = npt.NDArray[np.int64]


def enough_samples(percentile: float, count: int) -> bool:
    """Whether ``count`` samples carry a percentile (0…100): at least ten on the thinner side of it.

    >>> enough_samples(99, 1000), enough_samples(99, 999)
    (True, False)
    """
    beyond = min(percentile, 100 - percentile) / 100 * count
    return beyond >= SAMPLES_BEYOND - 1e-9  # 0.1 % of 10,000 is 10, and a rounding error below it in floating point


def merge(encoded: Sequence[str]) -> HdrHistogram:
    """One histogram of all samples. ``encoded``: HdrHistogram V2, compressed, base64; at least one.

    Raises :class:`LoadError` where one cannot be decoded.
    """
    if not encoded:
        raise ValueError("nothing to merge")
    parts = [_decode(text) for text in encoded]
    whole = max(parts, key=lambda part: (part.significant_figures, part.highest_trackable_value))
    highest = max(part.highest_trackable_value for part in parts)
    if any(part.highest_trackable_value != highest or part.significant_figures != whole.significant_figures for part in parts):
        whole = HdrHistogram(_LOWEST_NS, highest, whole.significant_figures)
        rest = parts
    else:
        rest = [part for part in parts if part is not whole]
    for part in rest:
        whole.add(part)
    return whole


def describe(histogram: HdrHistogram) -> Distribution:
    """The distribution of a histogram of nanoseconds, in µs, with the histogram itself."""
    lowest, highest, counts = _recorded(histogram)
    total = int(counts.sum())
    if total == 0:
        return Distribution(count=0)
    middles = (lowest + highest) / 2
    mean = float(np.average(middles, weights=counts))
    return Distribution(
        count=total,
        min=float(lowest[0]) / _NS_PER_US,
        mean=mean / _NS_PER_US,
        stddev=float(np.sqrt(np.average((middles - mean) ** 2, weights=counts))) / _NS_PER_US,
        max=float(highest[-1]) / _NS_PER_US,
        tm99_9=_trimmed_mean(middles, counts, TRIMMED_SHARE) / _NS_PER_US,
        **_percentiles(highest, counts),
        histogram=histogram.encode().decode("ascii"),
    )


def merged(distributions: Sequence[Distribution | None]) -> Distribution | None:
    """All samples of several rounds as one distribution; ``None`` unless each round kept its histogram."""
    encoded = [distribution.histogram for distribution in distributions if distribution is not None and distribution.histogram]
    if not encoded or len(encoded) < len(distributions):
        return None
    return describe(merge(encoded))


def merged_intervals(distributions: Sequence[Distribution | None]) -> dict[str, ConfidenceInterval]:
    """95 % intervals of the percentiles of all rounds together, in µs, by name; none for less than three rounds with histograms.

    From how much each percentile moves when one round is left out: rounds are what varies, not requests.
    """
    encoded = [distribution.histogram for distribution in distributions if distribution is not None and distribution.histogram]
    if len(encoded) < ROUNDS_MIN or len(encoded) < len(distributions):
        return {}
    values, counts = _side_by_side([_recorded(_decode(text)) for text in encoded])
    total = counts.sum(axis=0)
    whole = _percentiles(values, total)
    without = [_percentiles(values, total - part) for part in counts]
    found = {name: jackknife(value, [part[name] for part in without if name in part], RESOLUTION) for name, value in whole.items()}
    return {name: bounds for name, bounds in found.items() if bounds is not None and all(name in part for part in without)}


def _side_by_side(parts: Sequence[tuple[_Floats, _Floats, _Counts]]) -> tuple[_Floats, _Counts]:
    """The highest value of each bucket that any part holds, and how many samples each part has in it: (buckets,) and (parts, buckets)."""
    values = np.unique(np.concatenate([highest for _, highest, _ in parts]))
    counts = np.zeros((len(parts), len(values)), dtype=np.int64)
    for row, (_, highest, held) in zip(counts, parts, strict=True):
        row[np.searchsorted(values, highest)] = held
    return values, counts


def _decode(text: str) -> HdrHistogram:
    try:
        return HdrHistogram.decode(text)
    except Exception as error:  # the library lets through whatever base64, zlib, struct and ctypes raise
        raise LoadError(f"a histogram cannot be decoded: {error}", hint="it must be HdrHistogram V2, compressed, base64") from error


def _recorded(histogram: HdrHistogram) -> tuple[_Floats, _Floats, _Counts]:
    """Lowest and highest value of each bucket that holds samples, ascending, in ns; and how many it holds.

    The library's own iterators visit every empty bucket in Python, which makes a report of a hundred rows take seconds.
    """
    held = np.ctypeslib.as_array(histogram.counts)
    indexes = np.flatnonzero(held)
    lowest = [histogram.get_value_from_index(int(index)) for index in indexes]
    highest = [histogram.get_highest_equivalent_value(value) for value in lowest]
    return np.array(lowest, dtype=np.float64), np.array(highest, dtype=np.float64), held[indexes].astype(np.int64)


def _percentiles(highest: _Floats, counts: _Counts) -> dict[str, float]:
    """In µs, as HdrHistogram defines them: the highest value that cannot be told apart from the sample at that rank."""
    ends = np.cumsum(counts)
    total = int(ends[-1])
    ranks = {
        name: max(int(percentile / 100 * total + 0.5), 1) for name, percentile in PERCENTILES.items() if enough_samples(percentile, total)
    }
    return {name: float(highest[np.searchsorted(ends, rank)]) / _NS_PER_US for name, rank in ranks.items()}


def _trimmed_mean(values: _Floats, counts: _Counts, share: float) -> float:
    """Mean without ``share`` of the samples at either end; a bucket that straddles a limit counts in part, as whole samples."""
    total = int(counts.sum())
    cut = int(total * share)
    ends = np.cumsum(counts)
    starts = ends - counts
    kept = np.clip(np.minimum(ends, total - cut) - np.maximum(starts, cut), 0, None)
    return float(np.average(values, weights=kept))
