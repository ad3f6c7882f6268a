"""Tests of gates, which noise alone must not breach."""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import Literal

import numpy as np
import pytest

from httpbench.model import Gate, Reason, ReasonKind, Verdict, VerdictKind
from httpbench.stats.gates import Passage, lost_rounds, passage, rounds_to_decide
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison, compare
from httpbench.stats.unpaired import change
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


@pytest.mark.parametrize("side", ["<", ">"])
def test_an_open_end_decides_nothing_on_its_side(side: Literal["<", ">"]) -> None:
    gate = Gate(figure="rps", side=side, change=0.0)
    above, below = ConfidenceInterval(low=1.1, high=1.2), ConfidenceInterval(low=0.8, high=0.9)
    assert passage(gate, above, may_be_lower=True) is passage(gate, below, may_be_higher=True) is Passage.INCONCLUSIVE
    assert passage(gate, above, may_be_higher=True) is passage(gate, above)
    assert passage(gate, below, may_be_lower=True) is passage(gate, below)


def normal_scores(rounds: int, ratio: float, deviation: float) -> dict[int, float]:
    """Return results by round whose logarithms have exactly this mean and standard deviation and are spread like a normal sample."""
    scores = np.array([NormalDist().inv_cdf((index + 0.625) / (rounds + 0.25)) for index in range(rounds)])
    logs = math.log(ratio) + deviation * (scores - scores.mean()) / scores.std(ddof=1)
    return dict(enumerate(np.exp(logs).tolist()))


@pytest.mark.parametrize(
    ("rounds", "ratio", "deviation"), [(3, 0.94, 0.03), (5, 0.98, 0.02), (5, 0.95, 0.03), (10, 0.98, 0.02), (20, 0.965, 0.02)]
)
def test_the_suggested_rounds_decide(rounds: int, ratio: float, deviation: float) -> None:
    """With the same ratio and noise, the suggested number of rounds decides the gate within one round, even where centers differ."""
    gate = Gate(figure="rps", side="<", change=-0.03)

    def after(count: int) -> Comparison:
        found = compare(normal_scores(count, ratio, deviation), dict.fromkeys(range(count), 1.0))
        assert found is not None
        return found

    assert passage(gate, after(rounds).interval) is Passage.INCONCLUSIVE
    enough = rounds_to_decide(gate, after(rounds))
    first = next(
        (count for count in range(rounds + 1, ROUNDS_PATIENCE + 1) if passage(gate, after(count).interval) is not Passage.INCONCLUSIVE),
        None,
    )
    if first is None:
        assert enough is None or enough > ROUNDS_PATIENCE * 0.8
    else:
        assert enough is not None and abs(enough - first) <= max(1, 0.2 * first)


def test_two_runs_suggest_rounds_that_decide() -> None:
    gate = Gate(figure="rps", side="<", change=-0.03)
    ours, theirs = (list(normal_scores(5, ratio, 0.02).values()) for ratio in (0.95, 1.0))
    found = change(theirs, ours, comparisons=6)
    assert found is not None and passage(gate, found.interval) is Passage.INCONCLUSIVE
    enough = rounds_to_decide(gate, found)
    assert enough is not None
    theirs, ours = (list(normal_scores(enough + 1, ratio, 0.02).values()) for ratio in (1.0, 0.95))
    decided = change(theirs, ours, comparisons=6)
    assert decided is not None and passage(gate, decided.interval) is Passage.BREACHED


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
