"""Adds up thousands of histograms, row by row and bucket by bucket.

The hdrhistogram package would take about a hundred times as long, because it builds a whole histogram object from each. It only writes
the sums here, and tests compare against it.
"""

from __future__ import annotations

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.cluster.dask.packing import BucketBounds, Packed
from httpbench.errors import LoadError
from httpbench.quantiles import Integers, Samples

_DIGITS = 3
_HALF_BITS = 10  # a histogram of three digits has 2048 buckets of width one, then 1024 of each width


class HistogramSums:
    """Rows of histograms of times in ns. Adding costs about 20 ns per bucket that is not empty."""

    def __init__(self, rows: int):
        self._rows = rows
        self._bounds: BucketBounds | None = None
        self._sums: Integers = np.zeros((rows, 0), dtype=np.int64)

    def add(self, packed: Packed) -> None:
        """Add one histogram to each row. Raise :class:`LoadError` if they cannot be unpacked, or have other bounds."""
        if len(packed.sizes) != self._rows:
            raise LoadError(f"it has {len(packed.sizes)} histograms, but earlier results have {self._rows}")
        if packed.bounds is None:
            return
        self._keep_to(packed.bounds)
        gaps, counts = packed.columns()
        sizes = np.array(packed.sizes, dtype=np.int64)
        held = np.flatnonzero(sizes)
        if not len(held):
            return
        firsts, width = (np.cumsum(sizes) - sizes)[held], self._sums.shape[1]
        steps = gaps.astype(np.int64)
        highest = np.add.reduceat(steps, firsts)  # bucket of each row
        if int(highest.max()) >= width:
            raise LoadError("a histogram has more buckets than its bounds allow")
        steps[firsts] += np.diff(held, prepend=0) * width - np.concatenate(([0], highest[:-1]))  # from row to row
        np.add.at(self._sums.reshape(-1), np.cumsum(steps, out=steps), counts.astype(np.int64))

    def samples(self, row: int) -> Samples:
        """Return the samples in a row."""
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        shift = np.maximum((buckets >> _HALF_BITS) - 1, 0)
        within = np.where(buckets >> _HALF_BITS, (buckets & ((1 << _HALF_BITS) - 1)) + (1 << _HALF_BITS), buckets)
        lowest = within << shift
        width = np.int64(1) << shift
        middle, highest = lowest + width // 2, lowest + width - 1
        return Samples(lowest.astype(np.float64), middle.astype(np.float64), highest.astype(np.float64), held[buckets])

    def text(self, row: int) -> str:
        """Return a row in the format of httpbench-loadgen."""
        assert self._bounds is not None, "something was added"
        histogram = HdrHistogram(self._bounds.lowest, self._bounds.highest, self._bounds.digits)
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        np.ctypeslib.as_array(histogram.counts)[buckets] = held[buckets]
        first, last = (int(buckets[0]), int(buckets[-1])) if len(buckets) else (-1, -1)
        histogram.set_internal_tacking_values(first, last, int(held.sum()))
        return str(histogram.encode().decode("ascii"))

    def _keep_to(self, bounds: BucketBounds) -> None:
        if self._bounds is None:
            if bounds.digits != _DIGITS or bounds.lowest != 1:
                raise LoadError(f"a histogram has {bounds.digits} digits from {bounds.lowest} ns, not {_DIGITS} from 1 ns")
            widths = max(bounds.highest.bit_length() - _HALF_BITS, 1)
            self._bounds, self._sums = bounds, np.zeros((self._rows, (widths + 1) << _HALF_BITS), dtype=np.int64)
        elif bounds != self._bounds:
            raise LoadError("histograms of different bounds cannot be added up")
