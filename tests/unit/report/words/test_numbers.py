"""Tests that numbers are formatted as text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.report.words.numbers import four_digits, half_width_text, plus_minus


@pytest.mark.parametrize(
    ("value", "decimals", "text"),
    [
        (409_871.3, 0, "409,900"),
        (9_120, 0, "9,120"),
        (16.7081, 3, "16.71"),
        (0.1493, 3, "0.149"),
        (99.996, 3, "100.0"),
        (9_999.6, 1, "10,000"),
        (71.2, 1, "71.2"),
        (0, 3, "0.000"),
        (0.00004, 3, "0.000"),
        (-1234.56, 1, "-1,235"),
    ],
)
def test_numbers_have_at_most_four_significant_digits(value: float, decimals: int, text: str) -> None:
    assert four_digits(value, decimals) == text


@given(st.floats(1e-3, 1e12), st.integers(0, 3))
def test_rounding_error_is_at_most_one_unit_of_the_last_digit(value: float, decimals: int) -> None:
    shown = float(four_digits(value, decimals).replace(",", ""))
    assert abs(shown - value) <= max(0.000501 * value, 0.501 * 10**-decimals)
    assert len(four_digits(value, decimals).replace(",", "").replace(".", "").strip("0")) <= 4


def test_the_width_of_an_interval_that_includes_zero_is_not_exact() -> None:
    assert (half_width_text(0.018), half_width_text(1.0), half_width_text(32.17)) == ("1.8", "100.0", ">100")
    assert (plus_minus(0.018), plus_minus(32.17)) == ("± 1.8%", "± more than 100%")
