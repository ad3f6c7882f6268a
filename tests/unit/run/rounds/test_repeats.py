"""Tests of the choice of the trials to repeat. No trial is actually run."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from httpbench.model import Trial, TrialPlan
from httpbench.run.rounds.repeats import with_repeats
from tests.factories import make_disturbed, make_plan, make_trial

PLAN = [
    make_plan(target, round_=round_, number=3 * round_ + place) for round_ in range(2) for place, target in enumerate(("a/a", "b/b", "c/c"))
]


def order(retries: int, is_disturbed: Callable[[TrialPlan], bool]) -> list[str]:
    """Return target, round and attempt of each trial, such as ``a 0 0``."""
    made: list[Trial] = []
    for planned in (planned for group in with_repeats(PLAN, made, retries) for planned in group):
        trial = make_disturbed(planned) if is_disturbed(planned) else make_trial(planned)
        made.append(trial)
    assert [trial.plan.number for trial in made if not trial.plan.attempt] == list(range(6))
    numbers = [trial.plan.number for trial in made]
    assert len(set(numbers)) == len(numbers)
    assert [number for number in numbers if number >= 6] == list(range(6, len(made)))
    return [f"{trial.plan.target[0]} {trial.plan.round} {trial.plan.attempt}" for trial in made]


def test_undisturbed_runs_follow_their_plan() -> None:
    assert order(2, lambda planned: False) == ["a 0 0", "b 0 0", "c 0 0", "a 1 0", "b 1 0", "c 1 0"]


def test_disturbed_trials_are_repeated_at_the_end_of_their_round() -> None:
    found = order(2, lambda planned: planned.round == 0 and planned.target != "b/b" and planned.attempt == 0)
    assert found == ["a 0 0", "b 0 0", "c 0 0", "a 0 1", "c 0 1", "a 1 0", "b 1 0", "c 1 0"]


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_repeats_are_bounded(retries: int) -> None:
    found = order(retries, lambda planned: planned.target == "a/a")
    first, second = ([f"a {number} 0", f"b {number} 0", f"c {number} 0"] for number in range(2))
    repeats = [[f"a {number} {attempt + 1}" for attempt in range(retries)] for number in range(2)]
    assert found == [*first, *repeats[0], *second, *repeats[1]]


def test_trials_in_slices_come_together_and_are_not_repeated() -> None:
    plan = [one.model_copy(update={"slices": 8}) for one in PLAN]
    made: list[Trial] = []
    groups = []
    for group in with_repeats(plan, made, retries=2):
        groups.append([(one.target, one.round) for one in group])
        made += map(make_disturbed, group)
    assert groups == [[("a/a", round_), ("b/b", round_), ("c/c", round_)] for round_ in range(2)]
