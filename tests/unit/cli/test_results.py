"""Test of a run's exit code."""

from __future__ import annotations

import pytest

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.results import exit_code
from httpbench.model import Trial, Verdict, VerdictKind
from httpbench.run import Outcome
from tests.factories import make_disturbed, make_plan, make_run, make_trial


def disturbed(target: str, attempt: int = 0, round_: int = 0) -> Trial:
    return make_disturbed(make_plan(target, round_, attempt=attempt))


def quiet(target: str, attempt: int = 0, round_: int = 0) -> Trial:
    return make_trial(make_plan(target, round_, attempt=attempt))


INVALID = make_trial(make_plan("a/a", 1), Verdict(kind=VerdictKind.INVALID, reasons=("it died",)))


@pytest.mark.parametrize(
    ("trials", "code"),
    [
        ([quiet("a/a")], ExitCode.OK),
        ([disturbed("a/a"), quiet("a/a", attempt=1)], ExitCode.OK),
        ([disturbed("a/a"), quiet("a/a", round_=1)], ExitCode.OK),
        ([disturbed("a/a"), disturbed("a/a", attempt=1), quiet("b/b")], ExitCode.FAILED),
        ([disturbed("a/a"), quiet("a/a", attempt=1), INVALID], ExitCode.FAILED),
    ],
    ids=["quiet", "repeated", "another round", "every round disturbed", "invalid"],
)
def test_a_disturbed_round_is_no_failure_if_another_round_counts(trials: list[Trial], code: ExitCode) -> None:
    assert exit_code(Outcome(make_run(trials), trials)) is code
