"""Tests of properties of Spearman's rank correlation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.stats.rank_correlation import rank_correlation

PAIRS = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=3, max_size=20)


@given(PAIRS)
def test_only_the_order_matters(pairs: list[tuple[int, int]]) -> None:
    ours, theirs = [one for one, _ in pairs], [other for _, other in pairs]
    assert rank_correlation([2.0**one for one in ours], theirs) == rank_correlation(ours, theirs)


def test_few_pairs_have_no_correlation() -> None:
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    with pytest.raises(ValueError, match="counterpart"):
        rank_correlation([1], [1, 2])
