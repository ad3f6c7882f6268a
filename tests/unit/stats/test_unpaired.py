"""Two runs compared: an interval that holds the truth, and gates that noise does not breach."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from httpbench.stats.gates import Gate, Passage, passage
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.unpaired import change

DRAWS = 4000


@pytest.mark.parametrize(
    ("rounds", "noise"), [((3, 3), (0.02, 0.02)), ((5, 5), (0.02, 0.02)), ((4, 10), (0.05, 0.01)), ((10, 4), (0.05, 0.01))]
)
def test_the_interval_holds_the_truth_as_often_as_it_promises(rounds: tuple[int, int], noise: tuple[float, float]) -> None:
    """Also where one run varies more than the other. Welch's approximation is a little too narrow there with very few rounds."""
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


def test_too_few_rounds_have_a_ratio_and_no_interval() -> None:
    found = change([100, 100], [90, 90, 90])
    assert found is not None
    assert found.ratio == pytest.approx(0.9)
    assert found.interval is None
    assert (found.rounds_base, found.rounds_head) == (2, 3)
    assert not found.differs
    assert change([], [1, 2, 3]) is None


def test_rounds_in_one_bucket_are_no_certainty() -> None:
    found = change([100] * 3, [100.05] * 3, resolution=0.001)
    assert found is not None
    assert not found.differs


@pytest.mark.parametrize(
    ("side", "limit", "interval", "kind"),
    [
        ("<", -0.03, (0.95, 0.969), Passage.BREACHED),
        ("<", -0.03, (0.95, 0.971), Passage.PASSED),  # the truth may be within the bound
        ("<", -0.03, (1.10, 1.20), Passage.PASSED),
        (">", 0.10, (1.101, 1.3), Passage.BREACHED),
        (">", 0.10, (1.099, 1.3), Passage.PASSED),
        ("<", 0.05, (1.0, 1.04), Passage.BREACHED),  # «at least 5 % faster»
    ],
)
def test_a_gate_is_breached_where_the_whole_interval_lies_beyond(
    side: Literal["<", ">"], limit: float, interval: tuple[float, float], kind: Passage
) -> None:
    assert passage(Gate(figure="rps", side=side, change=limit), ConfidenceInterval(low=interval[0], high=interval[1])) is kind


def test_what_is_not_known_does_not_pass() -> None:
    gate = Gate(figure="rps", side="<", change=-0.03)
    assert passage(gate, None) is Passage.UNKNOWN
    assert str(gate) == "rps<-3%"
