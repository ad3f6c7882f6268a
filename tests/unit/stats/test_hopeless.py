"""When further rounds would repeat the first."""

from __future__ import annotations

from httpbench.model import Trial, Verdict, VerdictKind
from httpbench.model.endings import LOST_HOST, LOST_WORKER
from httpbench.stats.hopeless import common_failure
from tests.factories import make_disturbed, make_failed, make_plan, make_rounds, make_trial


def invalid(target: str, reason: str) -> Trial:
    return make_trial(make_plan(target), Verdict(kind=VerdictKind.INVALID, reasons=(reason, "and more")))


def test_one_reason_of_every_target_ends_the_run() -> None:
    trials = [invalid("a/a", "0.64% of requests failed (timeout 77)"), invalid("b/b", "0.14% of requests failed (timeout 18)")]
    assert common_failure(trials) == "0.14 to 0.64% of requests failed (timeout 18 to 77)"


def test_reasons_that_differ_do_not() -> None:
    assert common_failure([invalid("a/a", "it died"), invalid("b/b", "0.14% of requests failed")]) is None


def test_a_target_that_counts_is_measured_on() -> None:
    assert common_failure([invalid("a/a", "it died"), *make_rounds("b/b", (1000,))]) is None


def test_targets_that_fail_alike_end_the_run_too() -> None:
    assert common_failure([make_failed(make_plan("a/a")), make_failed(make_plan("b/b"))]) == "did not respond within 10 s"


def test_disturbed_trials_say_nothing() -> None:
    timed_out = invalid("a/a", "0.64% of requests failed (timeout 77)")
    assert common_failure([timed_out, make_disturbed(make_plan("b/b"))]) is not None
    assert common_failure([make_disturbed(make_plan("a/a")), make_disturbed(make_plan("b/b"))]) is None
    accepted = make_disturbed(make_plan("b/b"))
    accepted = accepted.model_copy(update={"verdict": accepted.verdict.model_copy(update={"is_accepted": True})})
    assert common_failure([timed_out, accepted]) is None


def test_trials_whose_load_host_was_lost_say_nothing() -> None:
    for reason in (f"{LOST_HOST} load1 was lost: it ended", f"{LOST_WORKER} load1: its Dask worker is gone"):
        lost = invalid("a/a", reason)
        assert common_failure([lost]) is None
        assert common_failure([lost, invalid("b/b", "it died")]) == "it died"
