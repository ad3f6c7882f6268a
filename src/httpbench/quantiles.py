"""Percentiles and trimmed means, computed by the same rules as in the native load generator.

All percentiles in the Python code are computed here. Samples are values in ascending order, each with a count. They are either the times of
single requests or the buckets of an HdrHistogram.

- The percentile p of n samples is the sample at rank ⌈p/100 · n⌉ (nearest rank, as ``value_at_quantile`` in HdrHistogram). If samples are
  in buckets, the highest value of that sample's bucket is used, so at least p % of the samples don't exceed the percentile.
- A percentile is known if at least ten samples are beyond it. With fewer samples, the percentile depends more on chance than on the target.
"""

from __future__ import annotations

import base64
import math
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from httpbench.errors import LoadError

if TYPE_CHECKING:
    import numpy as np
    from hdrh.histogram import HdrHistogram
    from numpy.typing import NDArray

    Integers = NDArray[np.int64]
    Floats = NDArray[np.float64]

PERCENTILES = {"p25": 25.0, "p50": 50.0, "p75": 75.0, "p90": 90.0, "p95": 95.0, "p99": 99.0, "p99_9": 99.9, "p99_99": 99.99}
"""Percentiles by field name."""

SAMPLES_BEYOND = 10
"""Minimum number of samples beyond a percentile. With fewer samples, the percentile isn't shown."""

TRIMMED_SHARE = 0.001
"""Share of the samples that tm99.9 drops at each end."""

NS_PER_US = 1000.0

HISTOGRAM_BYTES_MAX = 16 << 20
"""Maximum size of a histogram without compression, in bytes. The largest one in the folder ``results`` has 19 kB."""

INFLATION_MAX = 1032
"""Maximum ratio of the size of data to its compressed size (zlib.net, "Technical Details"). If even this ratio can't make a histogram too
large, its size isn't checked."""

DIGITS_MAX = 3
"""Maximum number of significant digits of a histogram. All load generators use three, and each further digit takes ten times the memory."""

LONGEST_NS = 1 << 53
"""Maximum time in a histogram, in ns: 104 days. Greater integers aren't exact as floats."""

_ENVELOPE_BYTES = 8
"""Length of the header before the compressed part of an HdrHistogram V2, in bytes. It contains the format and the length."""


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
    return count * (100 - percentile) / 100 >= SAMPLES_BEYOND - 1e-6  # rounding errors may make 0.1% of 10,000 slightly less than ten


def samples_needed(percentile: float) -> int:
    """Return the minimum number of samples for which a percentile is known."""
    return math.ceil(SAMPLES_BEYOND / (1 - percentile / 100) - 1e-6)


def percentiles_us(highest: Floats, counts: Integers) -> dict[str, float]:
    """Return all known percentiles by name, in µs. ``highest`` contains times in ns."""
    import numpy as np

    ends = np.cumsum(counts)
    found = {name: _percentile_us(highest, ends, percentile) for name, percentile in PERCENTILES.items()}
    return {name: value for name, value in found.items() if value is not None}


def percentile_us(samples: Samples, percentile: float) -> float | None:
    """Return one percentile in µs, or ``None`` if it isn't known."""
    import numpy as np

    return _percentile_us(samples.highest, np.cumsum(samples.counts), percentile)


def figures_us(samples: Samples) -> dict[str, float]:
    """Return the known statistics of a distribution by field name, in µs. The result is empty if there are no samples.

    The standard deviation is that of the population, not an estimate from a sample, because all requests are included.
    """
    import numpy as np

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
    """Return samples built from times, which needn't be sorted.

    ``counts`` contains the number of occurrences of each time; by default, each occurs once.
    """
    import numpy as np

    distinct, inverse = np.unique(values_ns, return_inverse=True)
    sums = np.bincount(inverse, counts).astype(np.int64)
    present = sums > 0
    values = distinct[present].astype(np.float64)
    return Samples(values, values, values, sums[present])


def together(parts: list[Samples]) -> Samples:
    """Merge the samples of several histograms. Their buckets must have the same widths."""
    import numpy as np

    highest, first, inverse = np.unique(np.concatenate([part.highest for part in parts]), return_index=True, return_inverse=True)
    counts = np.bincount(inverse, np.concatenate([part.counts for part in parts])).astype(np.int64)
    lowest, middle = (np.concatenate([getattr(part, name) for part in parts])[first] for name in ("lowest", "middle"))
    return Samples(lowest, middle, highest, counts)


def decoded(histogram: str) -> HdrHistogram:
    """Decode a compressed HdrHistogram V2 in base64. Raises :class:`LoadError` if the text isn't valid."""
    from hdrh.histogram import HdrHistogram

    try:
        if len(histogram) * INFLATION_MAX > HISTOGRAM_BYTES_MAX:
            inflated(base64.b64decode(histogram, validate=True)[_ENVELOPE_BYTES:], HISTOGRAM_BYTES_MAX)
        found = HdrHistogram.decode(histogram)
        _check(found)
        return found
    except Exception as error:  # the library raises errors of base64, zlib, struct and ctypes
        raise LoadError(f"a histogram cannot be decoded: {error}", hint="it must be HdrHistogram V2, compressed, base64") from error


def _check(histogram: HdrHistogram) -> None:
    """Raise :class:`ValueError` if the numbers in a histogram are beyond what a load generator records."""
    import numpy as np

    counts = np.ctypeslib.as_array(histogram.counts)
    if histogram.lowest_trackable_value != 1 or histogram.significant_figures > DIGITS_MAX:
        raise ValueError(f"it must begin at 1 ns and have at most {DIGITS_MAX} significant digits")
    highest = histogram.highest_trackable_value
    if highest > LONGEST_NS or histogram.get_max_value() > histogram.get_highest_equivalent_value(highest):
        raise ValueError("it contains times beyond its range")
    if counts.min(initial=0) < 0 or counts.astype(np.float64).sum() > LONGEST_NS:
        raise ValueError("its counts are negative or too large")


def inflated(data: bytes | memoryview, bytes_max: int) -> bytes:
    """Decompress data in the zlib format.

    Raises :class:`ValueError` if the result has more than ``bytes_max`` bytes, and ``zlib.error`` if the data is invalid or incomplete.
    """
    engine = zlib.decompressobj()
    plain = engine.decompress(data, bytes_max)
    if engine.unconsumed_tail:
        raise ValueError(f"it has more than {bytes_max >> 20} MiB without compression")
    if not engine.eof:
        raise zlib.error("incomplete data")
    return plain


def recorded(histogram: HdrHistogram) -> Samples:
    """Return the samples in a histogram.

    This function doesn't use the library's own iterators, because they visit every bucket in Python. A report with a hundred rows would
    take seconds.
    """
    import numpy as np

    held = np.ctypeslib.as_array(histogram.counts)
    indexes = np.flatnonzero(held)
    # Buckets have a width of 1 ns in the first two groups. From then on, the width doubles with each group.
    doublings = np.maximum((indexes >> histogram.sub_bucket_half_count_magnitude) - 1, 0)
    lowest = (indexes - (doublings << histogram.sub_bucket_half_count_magnitude)) << doublings
    highest = lowest + (1 << doublings) - 1
    middle = lowest + (highest - lowest + 1) // 2  # as in the library that the load generator uses
    counts = held[indexes].astype(np.int64)
    return Samples(lowest.astype(np.float64), middle.astype(np.float64), highest.astype(np.float64), counts)


def _percentile_us(highest: Floats, ends: Integers, percentile: float) -> float | None:
    import numpy as np

    total = int(ends[-1]) if len(ends) else 0
    if not is_known(percentile, total):
        return None
    rank = math.ceil(percentile / 100 * total)
    return float(highest[np.searchsorted(ends, rank)]) / NS_PER_US


def _trimmed_mean(values: Floats, counts: Integers) -> float:
    """Return the trimmed mean. If a bucket is only partly trimmed, its remaining samples count."""
    import numpy as np

    ends = np.cumsum(counts)
    cut = int(ends[-1] * TRIMMED_SHARE)
    least, most = cut, int(ends[-1]) - cut
    kept = np.clip(ends, least, most) - np.clip(ends - counts, least, most)
    return float(np.average(values, weights=kept))
