"""Tests of the intervals of comparisons between two runs."""

from __future__ import annotations

import numpy as np
import pytest

from httpbench.stats.unpaired import change

DRAWS = 4000


@pytest.mark.parametrize(
    ("rounds", "noise"), [((3, 3), (0.02, 0.02)), ((5, 5), (0.02, 0.02)), ((4, 10), (0.05, 0.01)), ((10, 4), (0.05, 0.01))]
)
def test_intervals_contain_the_true_value_in_95_percent(rounds: tuple[int, int], noise: tuple[float, float]) -> None:
    """The cases include runs with unequal noise, for which Welch's intervals are slightly too narrow if there are very few rounds."""
    source = np.random.default_rng(7)
    missed = 0
    for _ in range(DRAWS):
        base, head = (np.exp(source.normal(0, own, count)) for own, count in zip(noise, rounds, strict=True))
        found = change(list(base), list(head * 0.9))
        assert found is not None
        assert found.interval is not None
        missed += not found.interval.low <= 0.9 <= found.interval.high
    assert missed / DRAWS < 0.07


def test_intervals_of_a_family_hold_together() -> None:
    alone, among = (change([100, 102, 101], [97, 99, 98], count) for count in (1, 20))
    assert alone is not None
    assert among is not None
    assert alone.interval is not None
    assert among.interval is not None
    assert among.interval.low < alone.interval.low < alone.interval.high < among.interval.high
    assert among.ratio == alone.ratio == pytest.approx(0.9703, abs=1e-4)


def test_too_few_rounds_have_a_ratio_but_no_interval() -> None:
    found = change([100, 100], [90, 90, 90])
    assert found is not None
    assert found.ratio == pytest.approx(0.9)
    assert found.interval is None
    assert (found.rounds_base, found.rounds_head) == (2, 3)
    assert not found.differs
    assert change([], [1, 2, 3]) is None


def test_rounds_in_one_bucket_are_not_certain() -> None:
    found = change([100] * 3, [100.05] * 3, resolution=0.001)
    assert found is not None
    assert not found.differs
