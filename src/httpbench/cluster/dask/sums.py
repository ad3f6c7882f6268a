"""Adds up histograms by the thousand: many rows of them, bucket by bucket.

Reads HdrHistogram V2 (compressed, base64) as specified in «HdrHistogram» for Java, class ``AbstractHistogram``: after the header come
counts as ZigZag LEB128 numbers, where a negative one stands for so many empty buckets. All histograms of one call are read in one pass of
numpy. The hdrhistogram package takes about a hundred times as long, because it makes a whole histogram of each: it is what tests
compare with, and what writes the sums.
"""

from __future__ import annotations

import base64
import binascii
import struct
import zlib
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.errors import LoadError
from httpbench.quantiles import Integers, Samples

_ENVELOPE = struct.Struct(">II")
_HEADER = struct.Struct(">IIIIQQd")
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_WORD_SIZES = 0xF0  # bits of a cookie that V2 sets and readers ignore
_MORE, _SEVEN_BITS = 0x80, 0x7F
_BYTES_MAX = 8  # of one count: more than any load has samples
_ROWS_AT_ONCE = 32  # what is computed of them fits into a core's cache
_DIGITS = 3
_HALF_BITS = 10  # a histogram of three digits has 2048 buckets of width one, then 1024 of each width


class _Bounds(NamedTuple):
    digits: int
    lowest: int
    highest: int


class HistogramSums:
    """Rows of histograms of times in ns. Cost of an added histogram: some 30 µs and 20 ns for each bucket that it holds."""

    def __init__(self, rows: int):
        self._rows = rows
        self._bounds: _Bounds | None = None
        self._sums: Integers = np.zeros((rows, 0), dtype=np.int64)

    def add(self, texts: Sequence[str]) -> None:
        """Adds one histogram to each row. Raises :class:`LoadError` if one cannot be read, or differs from the others in its bounds."""
        assert len(texts) == self._rows, "one histogram for each row"
        bodies = [self._body(text) for text in texts]
        for first in range(0, self._rows, _ROWS_AT_ONCE):
            rows, buckets, counts = _counts(bodies[first : first + _ROWS_AT_ONCE])
            if len(buckets) and int(buckets.max()) >= self._sums.shape[1]:
                raise LoadError("a histogram has more buckets than its bounds allow")
            self._sums[rows + first, buckets] += counts

    def samples(self, row: int) -> Samples:
        """What a row holds."""
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        shift = np.maximum((buckets >> _HALF_BITS) - 1, 0)
        within = np.where(buckets >> _HALF_BITS, (buckets & ((1 << _HALF_BITS) - 1)) + (1 << _HALF_BITS), buckets)
        lowest = within << shift
        width = np.int64(1) << shift
        middle, highest = lowest + width // 2, lowest + width - 1
        return Samples(lowest.astype(np.float64), middle.astype(np.float64), highest.astype(np.float64), held[buckets])

    def text(self, row: int) -> str:
        """A row in the form that it came in."""
        assert self._bounds is not None, "something was added"
        histogram = HdrHistogram(self._bounds.lowest, self._bounds.highest, self._bounds.digits)
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        np.ctypeslib.as_array(histogram.counts)[buckets] = held[buckets]
        first, last = (int(buckets[0]), int(buckets[-1])) if len(buckets) else (-1, -1)
        histogram.set_internal_tacking_values(first, last, int(held.sum()))
        return str(histogram.encode().decode("ascii"))

    def _body(self, text: str) -> bytes:
        """The encoded counts of a histogram, after a check of its header."""
        try:
            raw = base64.b64decode(text, validate=True)
            cookie, length = _ENVELOPE.unpack_from(raw)
            plain = zlib.decompress(memoryview(raw)[_ENVELOPE.size : _ENVELOPE.size + length])
            inner, size, shifted, digits, lowest, highest, _ = _HEADER.unpack_from(plain)
        except (binascii.Error, struct.error, zlib.error) as error:
            raise LoadError(f"a histogram cannot be decoded: {error}") from error
        if cookie & ~_WORD_SIZES != _COMPRESSED or inner & ~_WORD_SIZES != _PLAIN or shifted or _HEADER.size + size > len(plain):
            raise LoadError("a histogram cannot be decoded: it is not HdrHistogram V2")
        self._keep_to(_Bounds(digits, lowest, highest))
        return plain[_HEADER.size : _HEADER.size + size]

    def _keep_to(self, bounds: _Bounds) -> None:
        if self._bounds is None:
            if bounds.digits != _DIGITS or bounds.lowest != 1:
                raise LoadError(f"a histogram has {bounds.digits} digits from {bounds.lowest} ns, not {_DIGITS} from 1 ns")
            widths = max(bounds.highest.bit_length() - _HALF_BITS, 1)
            self._bounds, self._sums = bounds, np.zeros((self._rows, (widths + 1) << _HALF_BITS), dtype=np.int64)
        elif bounds != self._bounds:
            raise LoadError("histograms of different bounds cannot be added up")


def _counts(bodies: Sequence[bytes]) -> tuple[Integers, Integers, Integers]:
    """Row, bucket and count of all that is not empty."""
    data = np.frombuffer(b"".join(bodies), dtype=np.uint8)
    ends = np.flatnonzero(data < _MORE)  # of each number
    sizes = np.array([len(body) for body in bodies], dtype=np.int64)
    if (data[np.cumsum(sizes)[sizes > 0] - 1] >= _MORE).any():
        raise LoadError("a histogram cannot be decoded: its last count is truncated")
    lengths = np.diff(ends, prepend=-1)
    longest = int(lengths.max(initial=0))
    if longest > _BYTES_MAX:
        raise LoadError("a histogram cannot be decoded: a count is too long")
    coded = data[ends].astype(np.int64) << (7 * (lengths - 1))  # most have one byte, so the others cost little
    for back in range(1, longest):
        longer = np.flatnonzero(lengths > back)
        parts = (data[ends[longer] - back] & _SEVEN_BITS).astype(np.int64)
        coded[longer] |= parts << (7 * (lengths[longer] - 1 - back))
    numbers = (coded >> 1) ^ -(coded & 1)
    steps = np.where(numbers < 0, -numbers, 1)  # buckets that each number stands for
    after = np.cumsum(steps)
    firsts = np.searchsorted(ends, np.concatenate(([0], np.cumsum(sizes))))  # number of the first count of each body
    rows = np.repeat(np.arange(len(bodies)), np.diff(firsts))
    before_body = np.concatenate(([0], after))[firsts[:-1]]
    buckets = after - steps - before_body[rows]
    held = numbers > 0
    return rows[held], buckets[held], numbers[held]
