"""Gates that noise can't break."""

from __future__ import annotations

from typing import Literal

import pytest

from httpbench.model import Gate, Reason, ReasonKind, Verdict, VerdictKind
from httpbench.stats.gates import Passage, lost_rounds, passage
from httpbench.stats.interval import ConfidenceInterval
from tests.factories import make_failed, make_plan, make_rounds


@pytest.mark.parametrize(
    ("side", "limit", "interval", "kind"),
    [
        ("<", -0.03, (0.95, 0.969), Passage.BREACHED),
        ("<", -0.03, (0.95, 0.971), Passage.PASSED),  # the true value may be within the bound
        ("<", -0.03, (1.10, 1.20), Passage.PASSED),
        (">", 0.10, (1.101, 1.3), Passage.BREACHED),
        (">", 0.10, (1.099, 1.3), Passage.PASSED),
        ("<", 0.05, (1.0, 1.04), Passage.BREACHED),  # "at least 5% faster"
    ],
)
def test_a_gate_fails_if_the_whole_interval_is_beyond_it(
    side: Literal["<", ">"], limit: float, interval: tuple[float, float], kind: Passage
) -> None:
    assert passage(Gate(figure="rps", side=side, change=limit), ConfidenceInterval(low=interval[0], high=interval[1])) is kind


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
