"""Percentiles and trimmed means. The harness computes them only in this module, by the same rules as its load generator.

Samples are values in ascending order, each with a count: times of single requests, or buckets of an HdrHistogram.

- The percentile p of n samples is the sample at rank ⌈p/100 · n⌉ (nearest rank, as ``value_at_quantile`` in HdrHistogram). If samples are
  in buckets, the highest value of that sample's bucket is used, so at least p % of the samples don't exceed the percentile.
- A percentile is known if at least ten samples lie beyond it. With fewer samples beyond it, the percentile depends more on chance than on
  the target.

The computation is one numpy pass over the nonempty buckets.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from httpbench.errors import LoadError

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]

PERCENTILES = {"p25": 25.0, "p50": 50.0, "p75": 75.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
"""Percentiles by field name."""

SAMPLES_BEYOND = 10
"""Minimum number of samples beyond a percentile. With fewer samples beyond it, a percentile isn't shown."""

TRIMMED_SHARE = 0.001
"""Share of the samples that tm99.9 drops at each end."""

NS_PER_US = 1000.0


@dataclass(frozen=True, slots=True)
class Samples:
    """Times in ns, in ascending buckets that each contain at least one sample. Single values are buckets of width zero."""

    lowest: Floats
    middle: Floats
    highest: Floats
    counts: Integers

    @property
    def total(self) -> int:
        return int(self.counts.sum())


def is_known(percentile: float, count: int) -> bool:
    """Return whether ``count`` samples are enough for a percentile.

    >>> is_known(99, 1000), is_known(99, 999)
    (True, False)
    """
    return count * (100 - percentile) / 100 >= SAMPLES_BEYOND - 1e-6  # 0.1% of 10,000 must count as ten despite rounding errors


def samples_needed(percentile: float) -> int:
    """Return the minimum number of samples for which a percentile is known."""
    return math.ceil(SAMPLES_BEYOND / (1 - percentile / 100) - 1e-6)


def percentiles_us(highest: Floats, counts: Integers) -> dict[str, float]:
    """Return all known percentiles by name, in µs. ``highest`` contains times in ns."""
    ends = np.cumsum(counts)
    found = {name: _percentile_us(highest, ends, percentile) for name, percentile in PERCENTILES.items()}
    return {name: value for name, value in found.items() if value is not None}


def percentile_us(samples: Samples, percentile: float) -> float | None:
    """Return one percentile in µs, or ``None`` if it isn't known."""
    return _percentile_us(samples.highest, np.cumsum(samples.counts), percentile)


def figures_us(samples: Samples) -> dict[str, float]:
    """Return the known statistics of a distribution by field name, in µs. The result is empty if there are no samples.

    The standard deviation is that of the population, not an estimate from a sample, because all requests are included.
    """
    if samples.total == 0:
        return {}
    mean = float(np.average(samples.middle, weights=samples.counts))
    variance = float(np.average((samples.middle - mean) ** 2, weights=samples.counts))
    plain = {
        "min": float(samples.lowest[0]),
        "mean": mean,
        "stddev": math.sqrt(variance),
        "max": float(samples.highest[-1]),
        "tm99_9": _trimmed_mean(samples.middle, samples.counts),
    }
    return {name: value / NS_PER_US for name, value in plain.items()} | percentiles_us(samples.highest, samples.counts)


def samples_of(values_ns: Integers, counts: Integers | None = None) -> Samples:
    """Return samples from times in any order, each occurring ``counts`` times (by default once)."""
    distinct, inverse = np.unique(values_ns, return_inverse=True)
    sums = np.bincount(inverse, counts).astype(np.int64)
    present = sums > 0
    values = distinct[present].astype(np.float64)
    return Samples(values, values, values, sums[present])


def together(parts: list[Samples]) -> Samples:
    """Merge samples of several histograms, whose buckets must have the same widths."""
    highest, first, inverse = np.unique(np.concatenate([part.highest for part in parts]), return_index=True, return_inverse=True)
    counts = np.bincount(inverse, np.concatenate([part.counts for part in parts])).astype(np.int64)
    lowest, middle = (np.concatenate([getattr(part, name) for part in parts])[first] for name in ("lowest", "middle"))
    return Samples(lowest, middle, highest, counts)


def decoded(histogram: str) -> HdrHistogram:
    """Decode a compressed HdrHistogram V2 in base64. Raises :class:`LoadError` if it can't be decoded."""
    try:
        return HdrHistogram.decode(histogram)
    except Exception as error:  # the library lets errors of base64, zlib, struct and ctypes through
        raise LoadError(f"a histogram cannot be decoded: {error}", hint="it must be HdrHistogram V2, compressed, base64") from error


def recorded(histogram: HdrHistogram) -> Samples:
    """Return the samples in a histogram.

    The library's own iterators visit every empty bucket in Python, which would make a report with a hundred rows take seconds.
    """
    held = np.ctypeslib.as_array(histogram.counts)
    indexes = np.flatnonzero(held)
    lowest = np.array([histogram.get_value_from_index(int(index)) for index in indexes], dtype=np.int64)
    highest = np.array([histogram.get_highest_equivalent_value(int(value)) for value in lowest], dtype=np.int64)
    middle = lowest + (highest - lowest + 1) // 2  # the library of the load generator uses the same value
    counts = held[indexes].astype(np.int64)
    return Samples(lowest.astype(np.float64), middle.astype(np.float64), highest.astype(np.float64), counts)


def _percentile_us(highest: Floats, ends: Integers, percentile: float) -> float | None:
    total = int(ends[-1]) if len(ends) else 0
    if not is_known(percentile, total):
        return None
    rank = math.ceil(percentile / 100 * total)
    return float(highest[np.searchsorted(ends, rank)]) / NS_PER_US


def _trimmed_mean(values: Floats, counts: Integers) -> float:
    """Return the trimmed mean. If a bucket straddles a limit, only the samples inside the limit count."""
    ends = np.cumsum(counts)
    cut = int(ends[-1] * TRIMMED_SHARE)
    least, most = cut, int(ends[-1]) - cut
    kept = np.clip(ends, least, most) - np.clip(ends - counts, least, most)
    return float(np.average(values, weights=kept))
