"""Tests that merged histograms agree with the samples from which they were made."""

from __future__ import annotations

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.errors import LoadError
from httpbench.model import Distribution
from httpbench.stats.histogram import describe, merge, merged, percentile_curve_us
from tests.factories import make_histogram

PRECISION = 1e-3  # three significant digits
times_ns = st.lists(st.integers(min_value=1, max_value=60_000_000_000), min_size=1, max_size=200)


def test_percentiles_without_enough_samples_are_blank() -> None:
    described = describe(merge([make_histogram(range(1000, 101_000, 1000))]))
    assert described.count == 100
    assert described.p90 is not None
    assert described.p95 is None
    assert described.p99_99 is None


@settings(deadline=None)
@given(st.lists(times_ns, min_size=1, max_size=4))
def test_merging_equals_recording_in_one_histogram(rounds: list[list[int]]) -> None:
    together = describe(merge([make_histogram([time for times in rounds for time in times])]))
    assert describe(merge([make_histogram(times) for times in rounds])) == together


@settings(deadline=None)
@given(times_ns)
def test_statistics_match_the_samples(times: list[int]) -> None:
    described = describe(merge([make_histogram(times)]))
    samples = np.array(times) / 1000
    assert described.count == len(times)
    assert described.min == pytest.approx(samples.min(), rel=PRECISION)
    assert described.max == pytest.approx(samples.max(), rel=PRECISION)
    assert described.mean == pytest.approx(samples.mean(), rel=PRECISION)
    assert described.stddev == pytest.approx(samples.std(), rel=PRECISION, abs=PRECISION * samples.max())


def test_the_trimmed_mean_omits_a_thousandth_at_each_end() -> None:
    plain = [1_000_000] * 9_980
    described = describe(merge([make_histogram([1] * 10 + plain + [60_000_000_000] * 10)]))
    assert described.tm99_9 == pytest.approx(1000, rel=PRECISION)
    assert described.mean is not None
    assert described.mean > 50_000


def test_histograms_of_different_shapes_are_merged() -> None:
    coarse = HdrHistogram(1, 1_000_000, 2)
    coarse.record_value(5000, 9)
    described = describe(merge([str(coarse.encode(), "ascii"), make_histogram([50_000_000_000])]))
    assert described.count == 10
    assert described.min == pytest.approx(5, rel=1e-2)
    assert described.max == pytest.approx(50_000_000, rel=PRECISION)


def test_the_merged_histogram_can_be_merged_again() -> None:
    described = describe(merge([make_histogram([1000, 2000]), make_histogram([3000])]))
    assert described.histogram is not None
    assert describe(merge([described.histogram])) == described


def test_an_empty_histogram_has_no_statistics() -> None:
    assert describe(merge([make_histogram([])])) == Distribution(count=0)


def test_rounds_without_a_histogram_prevent_merging() -> None:
    whole = Distribution(count=2, histogram=make_histogram([1000, 2000]))
    assert merged([whole, Distribution(count=2)]) is None
    assert merged([whole, None]) is None
    assert merged([]) is None
    both = merged([whole, whole])
    assert both is not None
    assert both.count == 4


@pytest.mark.parametrize("text", ["", "no histogram", "HISTFAAAABt42pNpmSzMwMDAxQABzFCaEUoz2X+AMIKYIgA"])
def test_invalid_histograms_raise_a_readable_error(text: str) -> None:
    with pytest.raises(LoadError, match="histogram cannot be decoded"):
        merge([text])


def test_merging_nothing_raises() -> None:
    with pytest.raises(ValueError, match="nothing to merge"):
        merge([])


def test_a_curve_covers_all_rounds_and_ends_with_its_samples() -> None:
    rounds = [Distribution(count=500, histogram=make_histogram(range(start, start + 500_000, 1000))) for start in (1000, 501_000)]
    curve = dict(percentile_curve_us(rounds))
    assert list(curve) == sorted(curve)
    whole = merged(rounds)
    assert whole is not None
    assert (curve[50], curve[90], curve[99]) == (whole.p50, whole.p90, whole.p99)
    assert max(curve) == 99, "fewer than ten of a thousand samples lie beyond the next point"
    assert percentile_curve_us([*rounds, Distribution(count=1)]) == []
    assert percentile_curve_us([]) == []
