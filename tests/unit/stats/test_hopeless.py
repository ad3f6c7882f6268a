"""Tests that runs whose later rounds would only repeat the failures of the first round are detected."""

from __future__ import annotations

from httpbench.model import Reason, ReasonKind, Trial, Verdict, VerdictKind
from httpbench.stats.hopeless import common_failure
from tests.factories import make_disturbed, make_failed, make_plan, make_rounds, make_trial

DIED = Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death="exit code 3")


def invalid(target: str, *reasons: Reason) -> Trial:
    return make_trial(make_plan(target), Verdict(kind=VerdictKind.INVALID, reasons=(*reasons, Reason.of(ReasonKind.NOT_SAMPLED))))


def failed_share(share: float, timeouts: int) -> Reason:
    return Reason.of(ReasonKind.REQUESTS_FAILED, share=share, limit_share=0.001, errors={"timeout": timeouts})


def test_a_reason_shared_by_all_targets_ends_the_run() -> None:
    reasons = (failed_share(0.0064, 77), failed_share(0.0014, 18))
    assert common_failure([invalid("a/a", reasons[0]), invalid("b/b", reasons[1])]) == reasons


def test_different_reasons_do_not_end_the_run() -> None:
    assert common_failure([invalid("a/a", DIED), invalid("b/b", failed_share(0.0014, 18))]) == ()


def test_a_valid_target_continues_the_run() -> None:
    assert common_failure([invalid("a/a", DIED), *make_rounds("b/b", (1000,))]) == ()


def test_targets_that_fail_for_one_reason_end_the_run() -> None:
    same = Reason.of(ReasonKind.NOT_STARTED, message="did not respond within 10 s")
    assert common_failure([make_failed(make_plan("a/a")), make_failed(make_plan("b/b"))]) == (same, same)


def test_disturbed_trials_are_ignored() -> None:
    timed_out = invalid("a/a", failed_share(0.0064, 77))
    assert common_failure([timed_out, make_disturbed(make_plan("b/b"))])
    assert common_failure([make_disturbed(make_plan("a/a")), make_disturbed(make_plan("b/b"))]) == ()
    accepted = make_disturbed(make_plan("b/b"))
    accepted = accepted.model_copy(update={"verdict": accepted.verdict.model_copy(update={"is_accepted": True})})
    assert common_failure([timed_out, accepted]) == ()


def test_trials_that_lost_their_load_host_are_ignored() -> None:
    lost = invalid("a/a", Reason.of(ReasonKind.LOAD_HOST_LOST, message="the connection to load host load1 was lost: it ended"))
    assert common_failure([lost]) == ()
    assert common_failure([lost, invalid("b/b", DIED)]) == (DIED,)
