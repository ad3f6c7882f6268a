"""Tests of gates, which noise alone must not breach."""

from __future__ import annotations

import math
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Gate, Reason, ReasonKind, Verdict, VerdictKind
from httpbench.stats.gates import Passage, lost_rounds, passage, rounds_to_decide
from httpbench.stats.interval import ConfidenceInterval, around, quantile
from httpbench.stats.paired import ROUNDS_PATIENCE
from tests.factories import make_failed, make_plan, make_rounds


@pytest.mark.parametrize(
    ("side", "limit", "interval", "kind"),
    [
        ("<", -0.03, (0.95, 0.969), Passage.BREACHED),
        ("<", -0.03, (0.95, 0.971), Passage.INCONCLUSIVE),
        ("<", -0.03, (1.10, 1.20), Passage.PASSED),
        (">", 0.10, (1.101, 1.3), Passage.BREACHED),
        (">", 0.10, (1.099, 1.3), Passage.INCONCLUSIVE),
        (">", 0.10, (0.933, 1.234), Passage.INCONCLUSIVE),
        (">", 0.10, (0.9, 1.1), Passage.PASSED),
        ("<", 0.05, (1.0, 1.04), Passage.BREACHED),  # requires "at least 5% faster"
    ],
)
def test_a_gate_is_decided_only_by_the_whole_interval(
    side: Literal["<", ">"], limit: float, interval: tuple[float, float], kind: Passage
) -> None:
    assert passage(Gate(figure="rps", side=side, change=limit), ConfidenceInterval(low=interval[0], high=interval[1])) is kind


@given(deviation=st.floats(0.001, 0.3), rounds=st.integers(3, 20), within=st.floats(-0.99, 0.99), side=st.sampled_from("<>"))
def test_the_suggested_rounds_decide(deviation: float, rounds: int, within: float, side: Literal["<", ">"]) -> None:
    """With the same ratio and noise, the suggested number of rounds decides the gate, and one round fewer doesn't."""
    ratio = 1.1

    def after(count: int) -> ConfidenceInterval:
        return around(math.log(ratio), math.log(ratio), quantile(count) * (deviation / math.sqrt(count)))

    limit = math.log(ratio) + within * math.log(after(rounds).half_width + 1)
    gate = Gate(figure="rps", side=side, change=math.expm1(limit))
    assert passage(gate, after(rounds)) is Passage.INCONCLUSIVE
    enough = rounds_to_decide(gate, ratio, after(rounds), rounds)
    if enough is None:
        assert passage(gate, after(ROUNDS_PATIENCE)) is Passage.INCONCLUSIVE
    else:
        assert passage(gate, after(enough)) is not Passage.INCONCLUSIVE
        assert enough == rounds + 1 or passage(gate, after(enough - 1)) is Passage.INCONCLUSIVE


def test_unknown_results_do_not_pass() -> None:
    gate = Gate(figure="rps", side="<", change=-0.03)
    assert passage(gate, None) is Passage.UNKNOWN
    assert str(gate) == "rps<-3%"


def test_lost_rounds_are_counted_with_their_reason() -> None:
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=("1 of 10 responses were wrong",))
    rounds = make_rounds("c/a", (100, 101))
    assert lost_rounds(rounds) is None
    failed = make_failed(make_plan("c/a", 2), "exited with status 1")
    found = lost_rounds([*rounds, failed, *make_rounds("c/a", (1,), verdict=wrong)])
    assert found == Reason.of(ReasonKind.LOST_ROUNDS, found=2, rounds=4, reason=failed.verdict.reasons[0].dumped)
