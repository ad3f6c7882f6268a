"""Tests that the percentiles of samples don't depend on how the samples are stored."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hdrh.histogram import HdrHistogram
from hypothesis import given, settings
from hypothesis import strategies as st

from httpbench.load.distribution import distribution
from httpbench.load.rate_steps import RecordedInterval, steps
from httpbench.model import Distribution, Interval, Load
from httpbench.quantiles import PERCENTILES, decoded, figures_us, is_known, recorded, samples_needed, together
from httpbench.stats.histogram import merged
from tests.factories import make_histogram

SAMPLES_NS = list(range(500, 500 + 1070))
"""Samples below 2048 ns, where each bucket holds one value. The p99 of 1070 samples is the 1060th, because
ranks are rounded up. Rounding to the nearest rank would give the 1059th."""

GENERATOR: dict[str, dict[str, Any]] = json.loads((Path(__file__).parent / "fixtures/loadgen_distributions.json").read_text())
"""Distributions printed by httpbench-loadgen 0.1.0, with their histograms."""


def of_steps(rounds: list[list[int]]) -> Distribution:
    load = Load(rate_from_rps=100, rate_rps=200, rate_step_rps=100, step_s=1, duration_s=2)
    slices = [
        RecordedInterval(Interval(start_s=at / 4, duration_s=0.25, completed=len(times)), recorded(decoded(make_histogram(times))))
        for at, times in enumerate(rounds)
    ]
    return steps(load, slices)[0].response_time_us


def of_rounds(rounds: list[list[int]]) -> Distribution:
    found = merged([Distribution(count=len(times), histogram=make_histogram(times)) for times in rounds])
    assert found is not None
    return found


def test_samples_intervals_and_rounds_have_the_same_percentiles() -> None:
    shuffled = np.random.default_rng(1).permutation(SAMPLES_NS).tolist()
    rounds = [shuffled[:300], shuffled[300:]]
    plain = distribution(np.array(shuffled))
    assert plain.p99 == 1.559
    for other in (of_steps(rounds), of_rounds(rounds)):
        assert other.model_dump(exclude={"histogram"}) == pytest.approx(plain.model_dump(exclude={"histogram"}))


@pytest.mark.parametrize("name", GENERATOR)
def test_percentiles_agree_with_the_load_generator(name: str) -> None:
    printed = GENERATOR[name]
    samples = recorded(decoded(printed["histogram"]))
    assert samples.total == printed["count"]
    expected = {figure: value for figure, value in printed.items() if figure not in ("count", "histogram") and value is not None}
    assert figures_us(samples) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("percentile", "needed"), [(50, 20), (25, 14), (75, 40), (90, 100), (95, 200), (99, 1000), (99.9, 10_000), (99.99, 100_000)]
)
def test_a_percentile_needs_ten_samples_beyond_it(percentile: float, needed: int) -> None:
    assert is_known(percentile, needed)
    assert not is_known(percentile, needed - 1)
    assert samples_needed(percentile) == needed


@settings(deadline=None)
@given(st.lists(st.integers(min_value=1, max_value=10**9), min_size=20, max_size=300))
def test_percentiles_use_the_nearest_rank(times: list[int]) -> None:
    histogram = decoded(make_histogram(times))
    found = figures_us(recorded(histogram))
    for name, percentile in PERCENTILES.items():
        rank = math.ceil(percentile / 100 * len(times))
        expected = histogram.get_highest_equivalent_value(sorted(times)[rank - 1]) / 1000 if len(times) - rank >= 10 else None
        assert found.get(name) == expected, name


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(min_value=1, max_value=10**10), max_size=50), min_size=1, max_size=4))
def test_merged_parts_equal_the_whole(parts: list[list[int]]) -> None:
    whole = recorded(decoded(make_histogram([time for part in parts for time in part])))
    assert figures_us(together([recorded(decoded(make_histogram(part))) for part in parts])) == figures_us(whole)


@pytest.mark.parametrize("digits", [1, 2, 3])
def test_buckets_have_the_bounds_of_the_library(digits: int) -> None:
    histogram = HdrHistogram(1, 3_600_000_000_000, digits)
    for index in range(histogram.counts_len):
        histogram.counts[index] = 1
    samples = recorded(histogram)
    lowest = [histogram.get_value_from_index(index) for index in range(histogram.counts_len)]
    assert samples.lowest.tolist() == lowest
    assert samples.highest.tolist() == [histogram.get_highest_equivalent_value(value) for value in lowest]
    assert samples.total == histogram.counts_len


def test_no_samples_give_no_percentiles() -> None:
    assert figures_us(recorded(decoded(make_histogram([])))) == {}
