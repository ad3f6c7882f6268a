"""A result on its way from a load host, with its histograms packed to save work on the machine that adds them up.

Each histogram is a row. For each bucket that is not empty, a row contains a gap and a count. The gap is the distance from the previous
bucket that is not empty. The gaps of all rows form one column of bytes, and the counts form another. Each column is compressed as a whole.
A gap that does not fit into a byte is split into several gaps; all but the last have a count of zero.

The input consists of histograms as httpbench-loadgen prints them: HdrHistogram V2 (compressed, base64), as specified by the class
``AbstractHistogram`` of HdrHistogram for Java. After the header, counts are ZigZag LEB128 numbers; a negative number, -n, stands for n
empty buckets.
"""

from __future__ import annotations

import base64
import json
import struct
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from httpbench.errors import LoadError
from httpbench.quantiles import HISTOGRAM_BYTES_MAX, inflated

if TYPE_CHECKING:
    from httpbench.quantiles import Integers

Document = Mapping[str, Any]

DISTRIBUTIONS = (
    *("service_time_us", "response_time_us", "first_byte_us"),
    *("schedule_lag_us", "connection_wait_us", "generator_lag_us", "connect_time_us"),
)
HISTOGRAM = "histogram"

COLUMN_BYTES_MAX = 512 << 20
"""Maximum size of a column of packed histograms without compression, in bytes. With 1,000 buckets in each of an
hour's 14,400 intervals and 8 bytes for each count, the column has 115 MB."""

_ENVELOPE = struct.Struct(">II")
_HEADER = struct.Struct(">IIIIQQd")
_COMPRESSED, _PLAIN = 0x1C849304, 0x1C849303
_WORD_SIZES = 0xF0  # bits of a cookie that V2 sets and readers ignore
_MORE, _SEVEN_BITS = 0x80, 0x7F
_BYTES_MAX = 8  # bytes of a count, enough for the samples of any load
_GAP_MAX = 255
_LEVEL = 6  # compression level

_Column = npt.NDArray[np.integer[Any]]


class BucketBounds(NamedTuple):
    """Bounds of a histogram: significant digits, and values in ns."""

    digits: int
    lowest: int
    highest: int


@dataclass(frozen=True, slots=True)
class Packed:
    """Histograms with equal bounds, one per row."""

    bounds: BucketBounds | None
    """Bounds of all rows, or ``None`` if there is no row."""
    sizes: tuple[int, ...]
    """Number of gaps of each row."""
    gaps: bytes
    """All gaps, one byte each, compressed."""
    counts: bytes
    """All counts, little-endian, compressed."""
    count_bytes: int
    """Number of bytes of each count."""

    def columns(self) -> tuple[_Column, _Column]:
        """Return the gaps and counts of all rows. Raise :class:`LoadError` if they can't be unpacked."""
        try:
            gaps = np.frombuffer(inflated(self.gaps, COLUMN_BYTES_MAX), dtype=np.uint8)
            counts = np.frombuffer(inflated(self.counts, COLUMN_BYTES_MAX), dtype=f"<i{self.count_bytes}")
        except (TypeError, ValueError, zlib.error) as error:
            raise LoadError(f"histograms cannot be unpacked: {error}") from error
        if not len(gaps) == len(counts) == sum(self.sizes):
            raise LoadError("histograms cannot be unpacked: their columns differ in length")
        return gaps, counts


def packed(texts: Sequence[str]) -> Packed:
    """Pack histograms as rows. Raise :class:`LoadError` if one cannot be decoded, or if their bounds differ."""
    opened = [_body(text) for text in texts]
    if len({bounds for bounds, _ in opened}) > 1:
        raise LoadError("histograms of different bounds cannot be added up")
    rows, buckets, counts = _counts([body for _, body in opened])
    gaps = np.diff(buckets, prepend=0)
    begins_row = np.diff(rows, prepend=-1) > 0
    gaps[begins_row] = buckets[begins_row]
    parts = np.maximum(gaps - 1, 0) // _GAP_MAX + 1  # long gaps are split; the last part gets the count
    last = np.cumsum(parts) - 1
    all_gaps = np.full(int(parts.sum()), _GAP_MAX, dtype=np.uint8)
    all_gaps[last] = gaps - _GAP_MAX * (parts - 1)
    width = next(width for width in (1, 2, 4, 8) if int(counts.max(initial=0)) >> (8 * width - 1) == 0)
    all_counts = np.zeros(len(all_gaps), dtype=f"<i{width}")
    all_counts[last] = counts
    sizes = np.bincount(rows, weights=parts, minlength=len(texts)).astype(np.int64)
    return Packed(
        opened[0][0] if opened else None,
        tuple(sizes.tolist()),
        zlib.compress(all_gaps.tobytes(), _LEVEL),
        zlib.compress(all_counts.tobytes(), _LEVEL),
        width,
    )


@dataclass(frozen=True, slots=True)
class PackedResult:
    """The result of one load generator."""

    document: Document
    """JSON document of the result (``httpbench-loadgen/1``) without histograms and intervals."""
    columns: Mapping[str, Sequence[Any]]
    """Values of each field of the intervals, by the field's name. This form is faster to add up."""
    totals: Packed
    """Histograms of the distributions, in the order of :data:`DISTRIBUTIONS`."""
    intervals: Packed
    """Histograms of the intervals."""


def read(output: bytes) -> PackedResult:
    """Parse the output of httpbench-loadgen. Raise :class:`LoadError` if that fails."""
    try:
        return separated(json.loads(output))
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(f"its result cannot be read: {error}") from error


def separated(document: Document) -> PackedResult:
    """Separate the histograms from the rest of a result."""
    intervals = document["intervals"]
    present = {name: document[name] for name in DISTRIBUTIONS if document[name] is not None}
    return PackedResult(
        {
            **document,
            **{name: _without_histogram(each) for name, each in present.items()},
            "intervals": (),
        },
        {name: tuple(interval[name] for interval in intervals) for name in _without_histogram(intervals[0])} if intervals else {},
        packed([each[HISTOGRAM] for each in present.values()]),
        packed([interval[HISTOGRAM] for interval in intervals]),
    )


def _without_histogram(part: Document) -> Document:
    return {name: value for name, value in part.items() if name != HISTOGRAM}


def _body(text: str) -> tuple[BucketBounds, bytes]:
    """Return the bounds of a histogram, and its encoded counts."""
    try:
        raw = base64.b64decode(text, validate=True)
        cookie, length = _ENVELOPE.unpack_from(raw)
        plain = inflated(memoryview(raw)[_ENVELOPE.size : _ENVELOPE.size + length], HISTOGRAM_BYTES_MAX)
        inner, size, shifted, digits, lowest, highest, _ = _HEADER.unpack_from(plain)
    except (ValueError, struct.error, zlib.error) as error:  # includes binascii.Error
        raise LoadError(f"a histogram cannot be decoded: {error}") from error
    if cookie & ~_WORD_SIZES != _COMPRESSED or inner & ~_WORD_SIZES != _PLAIN or shifted or _HEADER.size + size > len(plain):
        raise LoadError("a histogram cannot be decoded: it is not HdrHistogram V2")
    return BucketBounds(digits, lowest, highest), plain[_HEADER.size : _HEADER.size + size]


def _counts(bodies: Sequence[bytes]) -> tuple[Integers, Integers, Integers]:
    """Return the row, the bucket and the count of every bucket that is not empty."""
    data = np.frombuffer(b"".join(bodies), dtype=np.uint8)
    ends = np.flatnonzero(data < _MORE)  # index of the last byte of each number
    sizes = np.array([len(body) for body in bodies], dtype=np.int64)
    if (data[np.cumsum(sizes)[sizes > 0] - 1] >= _MORE).any():
        raise LoadError("a histogram cannot be decoded: its last count is truncated")
    lengths = np.diff(ends, prepend=-1)
    longest = int(lengths.max(initial=0))
    if longest > _BYTES_MAX:
        raise LoadError("a histogram cannot be decoded: a count is too long")
    coded = data[ends].astype(np.int64) << (7 * (lengths - 1))  # most counts have one byte, so the loop below is short
    for back in range(1, longest):
        longer = np.flatnonzero(lengths > back)
        parts = (data[ends[longer] - back] & _SEVEN_BITS).astype(np.int64)
        coded[longer] |= parts << (7 * (lengths[longer] - 1 - back))
    numbers = (coded >> 1) ^ -(coded & 1)
    steps = np.where(numbers < 0, -numbers, 1)  # number of buckets that each number covers
    after = np.cumsum(steps)
    firsts = np.searchsorted(ends, np.concatenate(([0], np.cumsum(sizes))))  # index of each body's first count
    rows = np.repeat(np.arange(len(bodies)), np.diff(firsts))
    before_body = np.concatenate(([0], after))[firsts[:-1]]
    buckets = after - steps - before_body[rows]
    held = numbers > 0
    return rows[held], buckets[held], numbers[held]
