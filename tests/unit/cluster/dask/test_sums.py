"""Tests that sums of histograms exactly equal those that the hdrhistogram package computes."""

from __future__ import annotations

import base64
import struct
import zlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.cluster.dask.merge import HistogramSums
from httpbench.cluster.dask.results import packed
from httpbench.errors import LoadError
from httpbench.quantiles import decoded, recorded
from tests.agent_results import DAY_NS, encoded, histogram

times = st.lists(st.one_of(st.integers(0, 5000), st.integers(0, 10**9), st.integers(0, DAY_NS)), max_size=30)


def counts_of(made: HdrHistogram) -> Any:
    return np.ctypeslib.as_array(made.counts)


@settings(max_examples=12)
@given(agents=st.lists(st.tuples(times, times), min_size=1, max_size=4))
def test_each_row_is_the_sum_of_its_histograms(agents: list[tuple[list[int], list[int]]]) -> None:
    sums = HistogramSums(2)
    for rows in agents:
        sums.add(packed([encoded(row) for row in rows]))
    for row in range(2):
        expected = histogram()
        for rows in agents:
            expected.add(histogram(rows[row]))
        assert np.array_equal(counts_of(decoded(sums.text(row))), counts_of(expected))
        ours, theirs = sums.samples(row), recorded(expected)
        for name in ("lowest", "middle", "highest", "counts"):
            assert np.array_equal(getattr(ours, name), getattr(theirs, name)), name


@settings(max_examples=12)
@given(counts=st.lists(st.tuples(st.integers(0, DAY_NS), st.integers(1, 2**40)), max_size=10))
def test_large_counts_are_kept(counts: list[tuple[int, int]]) -> None:
    made = HdrHistogram(1, DAY_NS, 3)
    for value, count in counts:
        made.record_value(value, count)
    sums = HistogramSums(1)
    sums.add(packed([made.encode().decode()]))
    sums.add(packed([made.encode().decode()]))
    assert sums.samples(0).total == 2 * sum(count for _, count in counts)


@pytest.mark.parametrize("bucket", [0, 1, 254, 255, 256, 509, 510, 511, 765, 2047])
def test_a_gap_of_any_length_is_kept(bucket: int) -> None:
    sums = HistogramSums(2)
    for _ in range(2):
        sums.add(packed([encoded([0, bucket, bucket]), encoded([bucket])]))
    for row, times_ns in enumerate(([0, bucket, bucket] * 2, [bucket] * 2)):
        assert np.array_equal(counts_of(decoded(sums.text(row))), counts_of(histogram(times_ns)))


def test_results_with_different_histograms_are_refused() -> None:
    with pytest.raises(LoadError, match="it has 2 histograms, but earlier results have 1"):
        HistogramSums(1).add(packed([GOOD, GOOD]))
    with pytest.raises(LoadError, match="different bounds"):
        packed([GOOD, HdrHistogram(1, 10**9, 3).encode().decode()])


def test_damaged_columns_are_refused() -> None:
    good = packed([GOOD])
    for damaged in (replace(good, gaps=b"x"), replace(good, counts=good.counts[:-6]), replace(good, sizes=(1,))):
        with pytest.raises(LoadError, match="histograms cannot be unpacked"):
            HistogramSums(1).add(damaged)
    with pytest.raises(LoadError, match="more buckets than its bounds allow"):
        HistogramSums(1).add(replace(good, gaps=zlib.compress(b"\xff" * 400), counts=zlib.compress(bytes(400)), sizes=(400,)))


def test_the_sum_of_empty_histograms_is_empty() -> None:
    sums = HistogramSums(1)
    sums.add(packed([encoded()]))
    assert sums.samples(0).total == 0
    assert decoded(sums.text(0)).get_total_count() == 0


def repacked(text: str, change: slice, by: bytes) -> str:
    """Return the histogram with some of its uncompressed bytes replaced."""
    plain = bytearray(zlib.decompress(base64.b64decode(text)[8:]))
    plain[change] = by
    small = zlib.compress(bytes(plain))
    return base64.b64encode(struct.pack(">II", 0x1C849314, len(small)) + small).decode()


GOOD = encoded([1000, 2000])


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no base64!",
        GOOD[:20],
        repacked(GOOD, slice(0, 4), b"\0\0\0\0"),
        repacked(GOOD, slice(4, 8), b"\0\0\xff\xff"),
        repacked(GOOD, slice(-1, None), b"\xff"),
    ],
    ids=["empty", "no base64", "truncated", "cookie", "length", "last count"],
)
def test_an_invalid_histogram_gives_one_sentence(text: str) -> None:
    with pytest.raises(LoadError, match="a histogram cannot be decoded"):
        packed([text])


def test_a_truncated_histogram_does_not_affect_the_next() -> None:
    with pytest.raises(LoadError, match="its last count is truncated"):
        packed([repacked(GOOD, slice(-1, None), b"\xff"), GOOD])


def test_histograms_with_different_bounds_are_refused() -> None:
    sums = HistogramSums(1)
    sums.add(packed([GOOD]))
    with pytest.raises(LoadError, match="different bounds"):
        sums.add(packed([HdrHistogram(1, 10**9, 3).encode().decode()]))
    with pytest.raises(LoadError, match="2 digits"):
        HistogramSums(1).add(packed([HdrHistogram(1, 10**9, 2).encode().decode()]))
