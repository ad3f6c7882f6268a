"""Tests of comparisons: properties that hold for any rounds, and the thresholds of a claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from httpbench.stats.paired import Comparison, compare, holm, rank_test

figures = st.floats(min_value=1.0, max_value=1e6)
pairs = st.lists(st.tuples(figures, figures), min_size=3, max_size=15)
p_values = st.lists(st.floats(min_value=0, max_value=1), min_size=1, max_size=20)


def by_round(values: list[float], first: int = 0) -> dict[int, float]:
    return dict(enumerate(values, start=first))


def compared(ours: list[float], theirs: list[float], resolution: float = 0.0) -> Comparison:
    found = compare(by_round(ours), by_round(theirs), resolution)
    assert found is not None
    return found


@given(pairs, st.floats(min_value=1e-3, max_value=1e3))
def test_comparison_does_not_depend_on_the_unit(rounds: list[tuple[float, float]], factor: float) -> None:
    ours, theirs = (list(side) for side in zip(*rounds, strict=True))
    plain = compared(ours, theirs)
    assume(plain.p is not None and 1e-6 < plain.p < 1 - 1e-6)
    scaled = compared([value * factor for value in ours], [value * factor for value in theirs])
    assert scaled.ratio == pytest.approx(plain.ratio, rel=1e-6)
    assert scaled.p == pytest.approx(plain.p, rel=1e-3)


@given(pairs)
def test_swapping_sides_inverts_the_ratio(rounds: list[tuple[float, float]]) -> None:
    ours, theirs = (list(side) for side in zip(*rounds, strict=True))
    there, back = compared(ours, theirs), compared(theirs, ours)
    assert there.interval is not None
    assert back.interval is not None
    assert back.ratio == pytest.approx(1 / there.ratio)
    assert back.interval.low == pytest.approx(1 / there.interval.high)
    assert back.p == pytest.approx(there.p or 0)
    assert back.differs == there.differs


@given(st.lists(figures, min_size=3, max_size=15))
def test_identical_rounds_tie(values: list[float]) -> None:
    found = compared(values, values)
    assert (found.ratio, found.p) == (1.0, 1.0)
    assert not found.differs


@given(pairs)
def test_claims_agree_with_their_intervals(rounds: list[tuple[float, float]]) -> None:
    ours, theirs = (list(side) for side in zip(*rounds, strict=True))
    found = compared(ours, theirs)
    assert found.interval is not None
    assume(found.p is not None and abs(found.p - 0.05) > 1e-6)
    assume(all(abs(end - 1.0) > 1e-9 for end in (found.interval.low, found.interval.high)))  # if closer, rounding errors would decide
    assert found.differs == (not found.interval.low <= 1.0 <= found.interval.high)


def test_p_value_matches_the_paired_test_on_logarithms() -> None:
    ours, theirs = [103.0, 98.0, 110.0, 104.0], [100.0, 97.0, 101.0, 103.0]
    expected = stats.ttest_rel([math.log(value) for value in ours], [math.log(value) for value in theirs]).pvalue
    assert compared(ours, theirs).p == pytest.approx(expected)


def test_effects_on_both_sides_cancel() -> None:
    """Over the rounds, the machine slows down by half for both targets. The targets differ by 2% in each round."""
    theirs = [100.0, 90.0, 80.0, 65.0, 50.0]
    ours = [value * factor for value, factor in zip(theirs, (1.021, 1.019, 1.02, 1.018, 1.022), strict=True)]
    found = compared(ours, theirs)
    assert found.differs
    assert found.ratio == pytest.approx(1.02, abs=0.001)


@pytest.mark.parametrize("count", [1, 2])
def test_too_few_rounds_make_no_claim(count: int) -> None:
    found = compared([200.0] * count, [100.0] * count)
    assert found.ratio == pytest.approx(2.0)
    assert found.interval is None
    assert not found.differs


def test_only_common_rounds_are_compared() -> None:
    found = compare(by_round([100, 101, 102, 103]), by_round([100, 101, 102], first=2))
    assert found is not None
    assert found.rounds == 2
    assert compare(by_round([100]), by_round([100], first=1)) is None
    assert compare(by_round([0.0, 100.0]), by_round([100.0, 100.0])) is not None


def test_extreme_results_have_a_finite_ratio() -> None:
    """Published results can contain any number."""
    assert math.isfinite(compared([1e308], [1e-300]).ratio)
    assert compared([1e-300], [1e308]).ratio >= 0


def test_values_in_one_histogram_bucket_do_not_differ() -> None:
    theirs, ours = [200.0] * 5, [200.2] * 5
    assert compared(ours, theirs).differs
    found = compared(ours, theirs, resolution=0.001)
    assert not found.differs
    assert found.interval is not None
    assert found.interval.half_width == pytest.approx(0.001, rel=0.01)


def test_rank_test_needs_six_rounds() -> None:
    ours, theirs = [103.0, 98.0, 110.0, 104.0, 99.0, 120.0], [100.0, 99.0, 101.0, 103.0, 92.0, 101.0]
    assert compared(ours[:5], theirs[:5]).p_rank is None
    assert compared(ours, theirs).p_rank == pytest.approx(
        2 * 3 / 2**6
    )  # the only negative rank is 2, and three of the 64 sums are at most 2


@pytest.mark.parametrize("digits", [15, 1])
@pytest.mark.parametrize("rounds", [6, 7, 20, 60])
def test_rank_test_matches_scipy(rounds: int, digits: int) -> None:
    """With one digit, rounds have equal differences or none."""
    random = np.random.default_rng(rounds)
    for ratios in random.normal(0.1, 0.3, (5, rounds)).round(digits):
        differences = ratios[ratios != 0]
        has_ties = len(set(np.abs(differences))) < len(differences)
        expected = stats.wilcoxon(differences, method="approx" if has_ties else "exact").pvalue
        assert rank_test(ratios) == pytest.approx(expected, rel=1e-9)


def test_identical_rounds_tie_in_the_rank_test() -> None:
    assert compared([100.0] * 6, [100.0] * 6).p_rank == 1.0


# --- many comparisons ----------------------------------------------------------------------------------------------------------


def test_holm_matches_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


@given(p_values)
def test_holm_keeps_the_order_and_is_at_most_bonferroni(values: list[float]) -> None:
    adjusted = holm(values)
    for (one, one_adjusted), (other, other_adjusted) in zip(
        zip(values, adjusted, strict=True), zip(values[1:], adjusted[1:], strict=True), strict=False
    ):
        assert (one <= other) <= (one_adjusted <= other_adjusted)
    for plain, corrected_value in zip(values, adjusted, strict=True):
        assert plain <= corrected_value <= min(1.0, plain * len(values)) + 1e-12
