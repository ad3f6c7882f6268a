"""Gates that noise does not breach."""

from __future__ import annotations

from typing import Literal

import pytest

from httpbench.stats.gates import Gate, Passage, passage
from httpbench.stats.interval import ConfidenceInterval


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
