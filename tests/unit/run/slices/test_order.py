"""Tests of the order of the targets in each cycle."""

from __future__ import annotations

from collections import Counter
from itertools import islice, pairwise

from hypothesis import given
from hypothesis import strategies as st

from httpbench.run.slices.order import cycles


@given(count=st.integers(1, 12), seed=st.integers(0, 2**32), number=st.integers(1, 20))
def test_each_cycle_has_every_target_once_and_each_second_one_is_the_reverse(count: int, seed: int, number: int) -> None:
    orders = list(islice(cycles(range(count), seed), 2 * number))
    assert all(sorted(order) == list(range(count)) for order in orders)
    assert all(second == first[::-1] for first, second in zip(orders[::2], orders[1::2], strict=True))


@given(count=st.integers(2, 8), seed=st.integers(0, 2**32))
def test_each_neighbor_precedes_and_follows_equally_often(count: int, seed: int) -> None:
    orders = list(islice(cycles(range(count), seed), 8))
    before = Counter(pair for order in orders for pair in pairwise(order))
    assert all(before[one, other] == before[other, one] for one, other in before)


def test_positions_are_balanced_over_pairs_of_cycles() -> None:
    orders = list(islice(cycles("abc", 1), 2))
    assert {target: sum(order.index(target) for order in orders) for target in "abc"} == {"a": 2, "b": 2, "c": 2}
