"""Tests that a run with looks ends when more rounds can't change the outcome of its gate."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import cast

import pytest

from httpbench import host
from httpbench.model import Gate, RunStatus, Trial, Verdict, VerdictKind
from httpbench.report.words.run import status
from httpbench.run import Outcome
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds.record import Record
from httpbench.run.rounds.settled import is_settled
from httpbench.store import Store
from tests.factories import make_disturbed, make_failed, make_plan, make_rounds, make_run, make_target

GATE = Gate(figure="rps", side="<", change=-0.03)
OLD, NEW = "c/old", "c/new"
STEADY = (100_000.0, 101_000.0, 99_000.0, 100_500.0)
BOUND = Verdict(kind=VerdictKind.GENERATOR)


@dataclass
class Made:
    """A record of trials that were made."""

    trials: list[Trial]
    gate: Gate

    def outcome(self) -> Outcome:
        return Outcome(make_run(self.trials, baseline=OLD, gates=(self.gate,)), self.trials)


def rounds(factors: tuple[float, ...], *, bound: bool = False) -> list[Trial]:
    old = make_rounds(OLD, STEADY, verdict=BOUND) if bound else make_rounds(OLD, STEADY)
    return [*old, *make_rounds(NEW, [rate * factor for rate, factor in zip(STEADY, factors, strict=True)])]


def settled(trials: list[Trial], looks: tuple[int, ...], round_: int | None = None, gate: Gate = GATE) -> bool:
    done = max(trial.plan.round for trial in trials) + 1
    planned = [make_plan(name, round_) for round_ in range(10) for name in (OLD, NEW)]
    spec = RunSpec(
        plan=RunPlan(tuple(planned), {}),
        targets={name: make_target(name) for name in (OLD, NEW)},
        workloads={},
        generators={},
        topology=host.Topology(()),
        command=(),
        baseline=OLD,
        gates=(gate,),
        looks=looks,
    )
    ordered = sorted(trials, key=lambda trial: trial.plan.round)
    return is_settled(spec, make_plan(OLD, done if round_ is None else round_), cast("Record", Made(ordered, gate)))


@pytest.mark.parametrize(
    ("factors", "expected"),
    [((0.9, 0.9, 0.91, 0.89), True), ((1.0, 1.001, 0.999, 1.0), True), ((0.95, 0.99, 0.96, 0.98), False)],
    ids=["breached", "passed", "inconclusive"],
)
def test_a_run_ends_at_a_look_if_the_gate_is_decided(factors: tuple[float, ...], expected: bool) -> None:
    assert settled(rounds(factors), (4,)) is expected
    assert not settled(rounds(factors), (3, 5)), "it is decided only at a look"
    assert not settled(rounds(factors), ()), "other runs make all rounds"
    assert not settled(rounds(factors), (4,), round_=3), "a round is finished first"


def test_a_run_ends_if_more_rounds_cannot_decide_the_gate() -> None:
    assert settled(rounds((1.0, 1.0, 1.001, 0.999), bound=True), (4,))


def test_a_run_goes_on_after_disturbed_rounds_but_not_without_the_figure() -> None:
    disturbed = [make_disturbed(make_plan(name, round_)) for round_ in range(4) for name in (OLD, NEW)]
    assert not settled(disturbed, (4,))
    assert settled(rounds((1.0, 1.0, 1.0, 1.0)), (4,), gate=Gate(figure="time", side=">", change=0.1))


def test_a_run_ends_after_the_round_in_which_the_target_failed() -> None:
    failed = make_failed(make_plan(NEW, 0), "exited with status 139")
    assert settled([*make_rounds(OLD, STEADY[:1]), failed], (5,))
    failed = make_failed(make_plan(OLD, 0), "exited with status 139")
    assert not settled([failed, *make_rounds(NEW, STEADY[:1])], (5,)), "a baseline may lose a few of many rounds"


@pytest.mark.parametrize(("looks", "planned", "notes"), [((4,), 8, []), ((), 20, ["finished: 8 of 20 trials"])])
def test_a_run_that_ended_at_a_look_is_complete(tmp_path: Path, looks: tuple[int, ...], planned: int, notes: list[str]) -> None:
    trials = sorted(rounds((1.0, 1.0, 1.0, 1.0)), key=lambda trial: trial.plan.round)
    trials = [trial.model_copy(update={"plan": trial.plan.model_copy(update={"number": number})}) for number, trial in enumerate(trials)]
    rest = [make_plan(name, round_) for round_ in range(4, 10) for name in (OLD, NEW)]
    run = make_run(trials, plan=(*(trial.plan for trial in trials), *rest), looks=looks)
    assert list(status(run, trials)) == notes
    with Store(tmp_path / "results.db") as store:
        store.begin(run)
        for trial in trials:
            store.add(run.id, trial)
        store.finish(run.id, RunStatus.FINISHED, "2026-11-21T08:05:00.000Z")
        assert [each.trials_planned for each in store.runs()] == [planned]
