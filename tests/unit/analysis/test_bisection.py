"""Tests of what a measurement says about a commit, and of the result of a search."""

from __future__ import annotations

import pytest

from httpbench.analysis.bisection import Bisection, BisectionStep, Effect, answer, answers, concluded, gate_for
from httpbench.analysis.gates import gated
from httpbench.model import Gate, Trial
from httpbench.report.words.bisection import bisection_lines, step_text
from httpbench.stats.bisection import Answer, Ending
from httpbench.stats.interval import ConfidenceInterval
from tests.factories import make_commit, make_failed, make_plan, make_rounds, make_run

GATE = Gate(figure="rps", side="<", change=-0.03)
STEADY = (100_000.0, 101_000.0, 99_000.0, 100_500.0)
GOOD, COMMITS = make_commit(0), [make_commit(number) for number in range(1, 9)]
SLOWER = Effect(run="20261121T080000-c0de", rounds=10, ratio=0.949, interval=ConfidenceInterval(low=0.941, high=0.957))

SAME = Effect(run="20261121T080000-c0de", rounds=5, ratio=0.998, interval=ConfidenceInterval(low=0.991, high=1.005))


def said(trials: list[Trial]) -> Answer | None:
    found = gated(make_run(trials, baseline="c/old", gates=(GATE,)), trials)
    return answer(found[0] if found else None)


def failed(target: str) -> Trial:
    return make_failed(make_plan(target, 4), "exited with status 139")


def test_a_gate_says_whether_a_commit_is_good() -> None:
    old = make_rounds("c/old", STEADY)
    assert said([*old, *make_rounds("c/new", STEADY)]) is Answer.GOOD
    assert said([*old, *make_rounds("c/new", [rate * 0.9 for rate in STEADY])]) is Answer.BAD
    unclear = [rate * factor for rate, factor in zip(STEADY, (0.95, 0.99, 0.96, 0.98), strict=True)]
    assert said([*old, *make_rounds("c/new", unclear)]) is Answer.UNDECIDED
    assert said([*old[:2], *make_rounds("c/new", STEADY[:2])]) is Answer.UNDECIDED


def test_a_commit_that_fails_is_skipped_and_a_failing_good_commit_ends_the_search() -> None:
    old, new = make_rounds("c/old", STEADY), make_rounds("c/new", STEADY)
    assert said([*old, *new, failed("c/new")]) is Answer.SKIPPED
    assert said([*old, failed("c/new")]) is Answer.SKIPPED
    assert said([*old, *new, failed("c/old")]) is None
    assert said([]) is None


def steps(first_bad: int, skipped: tuple[int, ...] = (), rounds: int = 3) -> list[BisectionStep]:
    found = [BisectionStep(commit=COMMITS[place].id, answer=Answer.SKIPPED, reason="its build failed, exit code 2") for place in skipped]
    for place, commit in enumerate(COMMITS):
        if place not in skipped:
            answer, effect = (Answer.BAD, SLOWER) if place >= first_bad else (Answer.GOOD, SAME)
            found += [BisectionStep(commit=commit.id, answer=answer, effect=effect)] * rounds
    return found


def shown(found: Bisection) -> str:
    return "\n".join(bisection_lines(found))


def test_a_found_commit_is_shown_with_its_effect() -> None:
    found = concluded(GATE, GOOD, COMMITS, steps(5)).model_copy(update={"confirmation": SLOWER})
    assert (found.ending, found.suspects, found.before) == (Ending.FOUND, (COMMITS[5],), COMMITS[4])
    assert shown(found).splitlines() == [
        f"{COMMITS[5].id} is the first bad commit",
        "Author: Ada <ada@example.test>",
        "Date:   2026-11-06T08:00:00+00:00",
        "",
        "    Change 6",
        "",
        f"It changes rps by -5.1% (-5.9% to -4.3%, 10 rounds) against {COMMITS[4].short} before it.",
        "24 measurements of 8 of 8 commits, bad: rps<-2.68%; right with a probability of 99.9%",
    ]


def test_the_first_commit_is_compared_with_the_good_one() -> None:
    assert concluded(GATE, GOOD, COMMITS, steps(0)).before == GOOD


def test_an_effect_that_is_not_confirmed_is_explained() -> None:
    small = SLOWER.model_copy(update={"ratio": 0.99, "interval": ConfidenceInterval(low=0.975, high=1.005)})
    found = concluded(GATE, GOOD, COMMITS, steps(5)).model_copy(update={"confirmation": small})
    assert "smaller changes in earlier commits add up" in shown(found)


def test_a_newest_commit_that_is_slower_but_close_to_the_gate_is_searched() -> None:
    close = Effect(run="20261121T080000-c0de", rounds=40, ratio=0.968, interval=ConfidenceInterval(low=0.962, high=0.974))
    newest = BisectionStep(commit=COMMITS[-1].id, answer=Answer.UNDECIDED, effect=close)
    assert gate_for(GATE, COMMITS[-1], [newest], COMMITS[3].id).change == pytest.approx(-0.016, abs=2e-4)
    (one,) = answers(GATE, COMMITS, [newest])
    assert one.answer is Answer.BAD
    found = concluded(GATE, GOOD, COMMITS, [*steps(5)[:-3], newest])
    assert (found.ending, found.suspects) == (Ending.FOUND, (COMMITS[5],))
    bound = newest.model_copy(update={"effect": close.model_copy(update={"is_bound": True}), "reason": "a result is only a bound"})
    assert answers(GATE, COMMITS, [bound])[0].answer is Answer.UNDECIDED


def test_an_earlier_regression_is_reported() -> None:
    """Commits 3 to 5 are 5% slower than the good one, and all later ones are 12% slower."""
    slowest = Effect(run="20261121T080000-c0de", rounds=10, ratio=0.88, interval=ConfidenceInterval(low=0.872, high=0.888))
    effects = [SAME, SAME, SLOWER, SLOWER, SLOWER, slowest, slowest, slowest]
    own = [BisectionStep(commit=commit.id, answer=Answer.BAD, effect=effect) for commit, effect in zip(COMMITS, effects, strict=True)]
    found = concluded(GATE, GOOD, COMMITS, own * 2).model_copy(update={"confirmation": SLOWER})
    assert found.suspects == (COMMITS[5],), "the largest of two regressions"
    assert f"{COMMITS[4].short} breaches rps<-3% as well. To find its cause, search again up to this commit." in shown(found)
    one = concluded(GATE, GOOD, COMMITS, steps(5)).model_copy(update={"confirmation": SLOWER})
    assert "breaches rps<-3% as well" not in shown(one)


def test_skipped_commits_before_the_found_one_are_listed() -> None:
    found = concluded(GATE, GOOD, COMMITS, steps(5, skipped=(4,)))
    assert found.suspects == (COMMITS[4], COMMITS[5])
    lines = shown(found).splitlines()
    assert lines[0] == "The first bad commit is one of 2. All but the last could not be judged:"
    assert lines[1:3] == [f"  {COMMITS[4].short} Change 5 (skipped: its build failed, exit code 2)", f"  {COMMITS[5].short} Change 6"]
    assert "21 measurements of 7 of 8 commits, 1 skipped" in lines[-1]


def test_without_a_regression_no_commit_is_named() -> None:
    found = concluded(GATE, GOOD, COMMITS, [BisectionStep(commit=COMMITS[-1].id, answer=Answer.GOOD, effect=SAME)] * 2)
    assert (found.ending, found.suspects) == (Ending.NONE, ())
    assert shown(found).startswith(f"No commit to find: {COMMITS[-1].short} passes rps<-3% against {GOOD.short}. It changes rps by -0.2%")


@pytest.mark.parametrize("reason", ["its build failed, exit code 2", "a result is only a bound"])
def test_a_bad_commit_that_cannot_be_judged_leaves_everything_open(reason: str) -> None:
    step = BisectionStep(commit=COMMITS[-1].id, answer=Answer.UNDECIDED, reason=reason)
    found = concluded(GATE, GOOD, COMMITS, [step])
    assert (found.ending, len(found.suspects), found.before) == (Ending.UNDECIDED, 8, None)
    assert shown(found).splitlines()[0] == f"Undecided: {COMMITS[-1].short} could not be judged against {GOOD.short}: {reason}"
    assert step_text(COMMITS[-1], step) == f"{COMMITS[-1].short} Change 8: undecided: {reason}"


def test_contradicting_measurements_leave_a_range() -> None:
    found = concluded(GATE, GOOD, COMMITS, [step for step in steps(5, rounds=1) if step.commit not in (COMMITS[4].id, COMMITS[5].id)])
    assert found.ending is Ending.UNDECIDED
    assert "is one of" in shown(found)
