"""Tests of intervals over rounds: their properties, and values checked against textbooks and scipy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from httpbench.stats.interval import ROUNDS_MAX, ConfidenceInterval, interval, jackknife, p_value, quantile, rounds_for

figures = st.floats(min_value=1e-3, max_value=1e6)
rounds = st.lists(figures, min_size=3, max_size=20)


def test_interval_is_students_t_on_logarithms() -> None:
    values = [95.0, 100.0, 108.0, 99.0]
    expected = np.exp(stats.t.interval(0.95, 3, loc=np.mean(np.log(values)), scale=stats.sem(np.log(values))))
    found = interval(values)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(expected))


@given(rounds)
def test_interval_contains_the_geometric_mean(values: list[float]) -> None:
    found = interval(values)
    assert found is not None
    assert found.low <= stats.gmean(values) * (1 + 1e-9)
    assert found.high >= stats.gmean(values) * (1 - 1e-9)


@given(rounds, st.floats(min_value=1e-3, max_value=1e3))
def test_interval_scales_with_the_unit(values: list[float], factor: float) -> None:
    plain, scaled = interval(values), interval([value * factor for value in values])
    assert plain is not None
    assert scaled is not None
    assert scaled.low == pytest.approx(plain.low * factor, rel=1e-6)
    assert scaled.half_width == pytest.approx(plain.half_width, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("values", [[], [100.0], [100.0, 101.0], [100.0, 0.0, 101.0]])
def test_few_rounds_and_zeros_have_no_interval(values: list[float]) -> None:
    assert interval(values) is None


def test_half_width_is_relative_to_the_middle() -> None:
    assert ConfidenceInterval(low=100 / 1.02, high=102).half_width == pytest.approx(0.02)


@pytest.mark.parametrize(("count", "expected"), [(3, 4.303), (5, 2.776), (10, 2.262)])
def test_quantiles_match_published_tables(count: int, expected: float) -> None:
    assert quantile(count) == pytest.approx(expected, abs=0.001)


def test_p_values_match_scipy() -> None:
    logs = np.log([1.02, 1.05, 0.99, 1.03])
    assert p_value(logs.mean(), stats.sem(logs), 3) == pytest.approx(stats.ttest_1samp(logs, 0).pvalue)


def test_without_deviation_only_equal_values_tie() -> None:
    assert (p_value(0.0, 0.0, 2), p_value(0.1, 0.0, 2)) == (1.0, 0.0)


@given(st.floats(min_value=1e-4, max_value=0.3), st.floats(min_value=0.005, max_value=0.2))
def test_rounds_for_a_width_are_the_fewest_sufficient(deviation: float, half_width: float) -> None:
    needed = rounds_for(deviation, half_width)
    assert needed is not None

    def reach(count: int) -> float:
        return quantile(count) * deviation / math.sqrt(count)

    assert reach(needed) <= math.log1p(half_width)
    assert needed == 3 or reach(needed - 1) > math.log1p(half_width)


def test_impractical_numbers_of_rounds_are_not_suggested() -> None:
    assert rounds_for(1.0, 0.001) is None
    assert ROUNDS_MAX >= 1000


def test_jackknife_of_a_mean_equals_its_standard_error() -> None:
    logs = np.array([0.1, 0.3, 0.2, 0.6])
    without = [math.exp(np.delete(logs, index).mean()) for index in range(4)]
    found = jackknife(math.exp(logs.mean()), without, resolution=0.0)
    expected = np.exp(stats.t.interval(0.95, 3, loc=logs.mean(), scale=stats.sem(logs)))
    assert found is not None
    assert (found.low, found.high) == pytest.approx(tuple(expected))


def test_jackknife_is_never_narrower_than_the_resolution() -> None:
    found = jackknife(200.0, [200.0, 200.0, 200.0], resolution=0.001)
    assert found is not None
    assert found.half_width == pytest.approx(0.001, rel=0.01)
