from __future__ import annotations

import math
import statistics

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given
from hypothesis import strategies as st

from httpbench.load.distribution import distribution
from httpbench.quantiles import PERCENTILES, SAMPLES_BEYOND

samples_ns = st.lists(st.integers(min_value=1, max_value=10**11), min_size=1, max_size=300)


@given(samples_ns)
def test_each_percentile_is_a_sample_with_enough_samples_beyond_it_or_none(samples: list[int]) -> None:
    found = distribution(np.array(samples))
    ordered = sorted(samples)
    for name, percentile in PERCENTILES.items():
        rank = math.ceil(len(samples) * percentile / 100 - 1e-9)
        expected = ordered[rank - 1] / 1000 if len(samples) - rank >= SAMPLES_BEYOND else None
        assert getattr(found, name) == expected, name


@given(samples_ns)
def test_moments_match_the_samples(samples: list[int]) -> None:
    found = distribution(np.array(samples))
    microseconds = [sample / 1000 for sample in samples]
    assert found.count == len(samples)
    assert (found.min, found.max) == (min(microseconds), max(microseconds))
    assert found.mean == pytest.approx(statistics.fmean(microseconds))
    assert found.stddev == pytest.approx(statistics.pstdev(microseconds), rel=1e-6, abs=1e-6)


@given(samples_ns)
def test_counts_repeat_samples(samples: list[int]) -> None:
    values, counts = np.unique(np.array(samples), return_counts=True)
    assert distribution(values, counts) == distribution(np.array(samples))


@given(samples_ns)
def test_the_histogram_keeps_the_samples_to_three_digits(samples: list[int]) -> None:
    encoded = distribution(np.array(samples)).histogram
    assert encoded is not None
    decoded = HdrHistogram.decode(encoded)
    direct = HdrHistogram(1, 2 * 3600 * 10**9, 3)
    for sample in samples:
        direct.record_value(sample)
    assert decoded.get_total_count() == len(samples)
    for percentile in (1, 25, 50, 75, 90, 99, 100):
        assert decoded.get_value_at_percentile(percentile) == direct.get_value_at_percentile(percentile)


def test_the_trimmed_mean_drops_a_thousandth_at_each_end() -> None:
    samples = np.concatenate([np.full(998, 5_000), [1, 10**9]])
    assert distribution(samples).tm99_9 == 5.0
    assert distribution(samples[:999]).tm99_9 == pytest.approx((998 * 5_000 + 1) / 999 / 1000)


def test_p99_needs_a_thousand_samples() -> None:
    assert distribution(np.arange(1, 1001)).p99 == 0.99
    assert distribution(np.arange(1, 1000)).p99 is None


def test_no_samples_give_no_statistics() -> None:
    found = distribution(np.array([], dtype=np.int64))
    assert found.count == 0
    assert set(found.model_dump(exclude={"count"}).values()) == {None}
