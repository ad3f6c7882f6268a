"""When further rounds would repeat the first."""

from __future__ import annotations

from httpbench.model import Reason, ReasonKind, Trial, Verdict, VerdictKind
from httpbench.stats.hopeless import common_failure
from tests.factories import make_disturbed, make_failed, make_plan, make_rounds, make_trial

DIED = Reason.of(ReasonKind.TARGET_DIED_UNDER_LOAD, death="exit code 3")


def invalid(target: str, *reasons: Reason) -> Trial:
    return make_trial(make_plan(target), Verdict(kind=VerdictKind.INVALID, reasons=(*reasons, Reason.of(ReasonKind.NOT_SAMPLED))))


def failed_share(share: float, timeouts: int) -> Reason:
    return Reason.of(ReasonKind.REQUESTS_FAILED, share=share, limit_share=0.001, errors={"timeout": timeouts})


def test_one_reason_of_every_target_ends_the_run() -> None:
    reasons = (failed_share(0.0064, 77), failed_share(0.0014, 18))
    assert common_failure([invalid("a/a", reasons[0]), invalid("b/b", reasons[1])]) == reasons


def test_reasons_that_differ_do_not() -> None:
    assert common_failure([invalid("a/a", DIED), invalid("b/b", failed_share(0.0014, 18))]) == ()


def test_a_target_that_counts_is_measured_on() -> None:
    assert common_failure([invalid("a/a", DIED), *make_rounds("b/b", (1000,))]) == ()


def test_targets_that_fail_alike_end_the_run_too() -> None:
    same = Reason.of(ReasonKind.NOT_STARTED, message="did not respond within 10 s")
    assert common_failure([make_failed(make_plan("a/a")), make_failed(make_plan("b/b"))]) == (same, same)


def test_disturbed_trials_say_nothing() -> None:
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
