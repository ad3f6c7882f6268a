"""Tests of the search for the first bad commit with measurements that may be wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.analysis.bisection import BisectionStep, Effect, answers
from httpbench.stats.bisection import (
    CERTAINTY,
    ERROR_MAX,
    STEP_ERROR,
    STEP_ERROR_MIN,
    UNDECIDED_MAX,
    Answer,
    Answered,
    Ending,
    limit,
    narrowed,
    next_commit,
    posterior,
    step_bound,
    step_error,
)
from httpbench.stats.interval import ConfidenceInterval
from tests.bisection_law import GATE, erring, gated, searched, searched_in_rounds
from tests.factories import make_commit

ANSWERS = st.integers(1, 40).flatmap(
    lambda commits: st.tuples(
        st.just(commits), st.lists(st.builds(Answered, st.integers(0, commits - 1), st.sampled_from(Answer)), max_size=30)
    )
)
PLACES = st.integers(1, 200).flatmap(lambda commits: st.tuples(st.just(commits), st.integers(0, commits)))


@given(ANSWERS)
def test_the_probabilities_add_up_to_one(case: tuple[int, list[Answered]]) -> None:
    commits, answers = case
    shares = posterior(commits, answers)
    assert len(shares) == commits + 1
    assert math.isclose(shares.sum(), 1) and (shares >= 0).all()


@given(ANSWERS)
def test_the_range_is_certain_and_the_next_commit_can_be_measured(case: tuple[int, list[Answered]]) -> None:
    commits, answers = case
    found, commit = narrowed(commits, answers), next_commit(commits, answers)
    assert 0 <= found.first <= found.last <= commits
    assert found.probability >= CERTAINTY - 1e-6
    assert commit is None or 0 <= commit < commits
    unjudged = {each.commit for each in answers} - {each.commit for each in answers if each.answer.decides}
    assert commit not in unjudged


@given(PLACES)
def test_correct_measurements_find_every_commit(place: tuple[int, int]) -> None:
    commits, first_bad = place
    found = searched(commits, lambda commit: Answer.BAD if commit >= first_bad else Answer.GOOD)
    assert found.names(first_bad, commits)
    assert found.answers[0].commit == commits - 1, "the newest commit is measured first"
    assert len(found.answers) <= 5 + math.ceil(math.log2(commits + 1))


@pytest.mark.parametrize("first_bad", [0, 7, 14, 15, 16])
def test_searches_with_the_assumed_error_are_right_in_95_percent(first_bad: int) -> None:
    random = np.random.default_rng(1)
    found = [searched(16, erring(random, first_bad, STEP_ERROR)) for _ in range(200)]
    assert sum(each.names(first_bad, 16) for each in found) >= 190
    assert max(len(each.answers) for each in found) <= limit(16)


@pytest.mark.parametrize(
    ("low", "high", "rounds", "error"),
    [
        (0.90, 0.97, 5, STEP_ERROR),
        (0.97, 1.01, 5, STEP_ERROR),
        (0.95, 0.98, 5, 0.3984),
        (0.96, 0.98, 5, ERROR_MAX),
        (0.93, 0.96, 5, 0.0101),
        (0.93, 0.96, 40, STEP_ERROR_MIN),
        (0.949, 0.951, 5, STEP_ERROR_MIN),
        (0.0, 0.9, 5, STEP_ERROR),
    ],
    ids=[
        "up to the bound",
        "from the bound",
        "around the bound",
        "its middle at the bound",
        "beyond it",
        "the same in more rounds",
        "far beyond it",
        "no lower bound",
    ],
)
def test_an_interval_far_from_the_bound_errs_less_often(low: float, high: float, rounds: int, error: float) -> None:
    assert step_error(0.97, ConfidenceInterval(low=low, high=high), rounds) == pytest.approx(error, abs=2e-4)


def test_a_certain_measurement_is_not_repeated() -> None:
    found = searched(64, lambda commit: Answer.BAD if commit >= 20 else Answer.GOOD, STEP_ERROR_MIN)
    assert found.names(20, 64)
    assert len(found.answers) <= 9, "six halvings, the newest commit, and at most two more"


def test_a_measurement_at_the_bound_errs_at_most_as_assumed() -> None:
    random = np.random.default_rng(2)
    measured = [gated(random, math.log(0.97), 0.02) for _ in range(300)]
    for assumed in (0.02, STEP_ERROR):
        answers = [
            answer
            for answer, effect in measured
            if effect.interval and step_error(1 + GATE.change, effect.interval, effect.rounds) <= assumed
        ]
        assert max(answers.count(Answer.GOOD), answers.count(Answer.BAD)) <= 300 * assumed


@given(st.floats(-1, 1).filter(bool), st.lists(st.floats(-1, 1)))
def test_the_bound_is_between_no_change_and_the_newest_commit_and_halves_the_widest_gap(newest: float, others: list[float]) -> None:
    bound = step_bound(newest, others)
    assert min(0, newest) <= bound <= max(0, newest)
    distance = min(abs(bound - change) for change in (0.0, newest, *others))
    assert distance >= abs(newest) / (2 * (len(others) + 1)) * (1 - 1e-9)


def test_the_bound_separates_the_changes_around_two_levels() -> None:
    assert step_bound(-0.05, [-0.01, 0.004, -0.046, -0.055]) == pytest.approx(-0.028)
    assert step_bound(-0.06, [-0.03, -0.028]) == pytest.approx(-0.045), "one of two regressions of the same size"


def test_a_regression_close_to_the_gate_is_found() -> None:
    """The regression is 3.7% and the gate 3%, but the bound between good and bad commits is at 1.9%."""
    random = np.random.default_rng(5)
    changes = np.where(np.arange(32) >= 20, math.log(0.963), 0.0)
    found = [searched_in_rounds(random, changes, 0.006) for _ in range(20)]
    assert sum([commit.id for commit in each.suspects] == [f"{21:040x}"] for each in found) >= 19
    rounds = [sum(step.effect.rounds for step in each.steps[1:] if step.effect) / len(each.steps[1:]) for each in found]
    assert np.median(rounds) < 7, "after the newest commit, nearly every interval is far from the bound after five rounds"


def test_an_interval_that_contains_the_bound_says_which_side_is_more_probable() -> None:
    commits = [make_commit(number) for number in range(1, 5)]
    effects = {3: (0.93, 0.97), 1: (0.955, 0.985), 0: (0.995, 1.005)}
    steps = [
        BisectionStep(
            commit=commits[place].id,
            answer=Answer.BAD if place == 3 else Answer.UNDECIDED,
            effect=Effect(run="", rounds=5, ratio=(low + high) / 2, interval=ConfidenceInterval(low=low, high=high)),
        )
        for place, (low, high) in effects.items()
    ]
    newest, middle, oldest = answers(GATE, commits, steps)
    assert (newest.answer, middle.answer, oldest.answer) == (Answer.BAD, Answer.BAD, Answer.GOOD)
    assert newest.error <= STEP_ERROR and oldest.error <= STEP_ERROR < middle.error < ERROR_MAX


@given(st.integers(2, 60).flatmap(lambda n: st.tuples(st.just(n), st.integers(0, n - 1), st.sets(st.integers(0, n - 2)))))
def test_skipped_commits_share_the_answer_with_the_next_one(case: tuple[int, int, set[int]]) -> None:
    commits, first_bad, broken = case

    def measure(commit: int) -> Answer:
        return Answer.SKIPPED if commit in broken else Answer.BAD if commit >= first_bad else Answer.GOOD

    found = searched(commits, measure)
    assert found.found.ending is Ending.FOUND
    assert found.found.first <= first_bad <= found.found.last
    assert set(range(found.found.first, found.found.last)) <= broken
    assert found.found.last not in broken
    skipped = [each.commit for each in found.answers if each.answer is Answer.SKIPPED]
    assert len(skipped) == len(set(skipped)), "no commit is skipped twice"


def test_a_search_jumps_over_a_row_of_broken_commits() -> None:
    """A search that tried the neighbors of each broken commit would try all 20."""
    found = searched(64, lambda commit: Answer.SKIPPED if 20 <= commit < 40 else Answer.BAD if commit >= 50 else Answer.GOOD)
    assert found.names(50, 64)
    assert sum(each.answer is Answer.SKIPPED for each in found.answers) <= 8


@pytest.mark.parametrize("answer", [Answer.UNDECIDED, Answer.SKIPPED])
def test_nothing_is_searched_if_the_newest_commit_cannot_be_judged(answer: Answer) -> None:
    found = searched(64, lambda commit: answer)
    assert found.answers == [Answered(63, answer)]
    assert (found.found.ending, found.found.first, found.found.last) == (Ending.UNDECIDED, 0, 64)


def test_of_two_regressions_with_a_fix_between_them_one_is_found() -> None:
    found = searched(64, lambda commit: Answer.BAD if 10 <= commit < 30 or commit >= 50 else Answer.GOOD)
    assert found.found.first == found.found.last
    assert found.found.first in (10, 50)


def test_measurements_without_a_pattern_end_at_the_limit() -> None:
    random = np.random.default_rng(4)
    found = searched(64, lambda commit: Answer.BAD if commit == 63 or random.random() < 0.5 else Answer.GOOD)
    assert len(found.answers) <= limit(64)


def test_a_commit_is_not_measured_again_and_again_if_it_stays_undecided() -> None:
    """Each of these measurements takes the maximum number of rounds."""
    asked: list[int] = []

    def measure(commit: int) -> Answer:
        asked.append(commit)
        return Answer.UNDECIDED if asked.count(commit) > 1 else Answer.BAD if commit >= 9 else Answer.GOOD

    found = searched(16, measure)
    assert max(asked.count(commit) for commit in asked) == UNDECIDED_MAX + 1
    assert found.found.first <= 9 <= found.found.last
