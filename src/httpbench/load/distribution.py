"""Build a ``Distribution`` from the times of individual requests, for load generators that print no histogram.

Percentiles are exact. The histogram has three significant digits; it is stored so that distributions can be merged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from httpbench.model import Distribution
from httpbench.quantiles import Samples, figures_us, samples_of

if TYPE_CHECKING:
    from httpbench.quantiles import Integers

HISTOGRAM_MAX_NS = 2 * 3600 * 10**9  # twice the longest timeout of a load
HISTOGRAM_DIGITS = 3
EXACT_BITS = 11  # a histogram with three digits has a bucket for each value below 2**11


def distribution(values_ns: Integers, counts: Integers | None = None) -> Distribution:
    """Return the distribution of times in ns, in any order. ``counts`` contains the number of occurrences of each time (default: 1)."""
    return described(samples_of(values_ns, counts))


def described(samples: Samples) -> Distribution:
    """Return all statistics of the samples, with their histogram."""
    if samples.total == 0:
        return Distribution(count=0)
    return Distribution(count=samples.total, histogram=_encoded(samples), **figures_us(samples))


def _encoded(samples: Samples) -> str:
    """Encode samples as a compressed HdrHistogram V2, in base64.

    Samples in the same slot of the histogram are recorded in one call, which is faster because there are few slots but many samples.
    """
    import numpy as np
    from hdrh.histogram import HdrHistogram

    histogram = HdrHistogram(1, HISTOGRAM_MAX_NS, HISTOGRAM_DIGITS)
    values = samples.lowest.astype(np.int64)
    _, bits = np.frexp(samples.lowest)
    shift = np.maximum(bits - EXACT_BITS, 0).astype(np.int64)
    slots = samples_of(values >> shift << shift, samples.counts)
    for value, count in zip(slots.lowest.tolist(), slots.counts.tolist(), strict=True):
        histogram.record_value(min(int(value), HISTOGRAM_MAX_NS), count)
    return str(histogram.encode().decode("ascii"))
