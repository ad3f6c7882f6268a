"""Tests that a full core isn't taken as a sign that a target is at its limit if the target polls."""

from __future__ import annotations

import pytest

from httpbench.model import Scaling, VerdictKind
from httpbench.report.words.reasons import joined
from httpbench.stats.evidence import evidence_of
from httpbench.stats.verdict import judge
from tests.factories import make_plan, make_trial, make_usage


def verdict(idle: float | None, target: float = 0.99, generator: float = 0.5, **usage: object) -> tuple[VerdictKind, str]:
    trial = make_trial(
        make_plan(scaling=Scaling.SINGLE),
        target_usage=make_usage(target, **usage),
        generator_usage=make_usage(generator),
        target_polling_threads=idle,
    )
    evidence = evidence_of(trial)
    assert evidence is not None
    found = judge(evidence)
    return found.kind, joined(found.reasons)


@pytest.mark.parametrize("idle", [None, 0.0, 0.2, 0.49])
def test_a_full_core_limits_a_target_that_does_not_poll(idle: float | None) -> None:
    assert verdict(idle) == (VerdictKind.TARGET, "")


@pytest.mark.parametrize("target", [0.99, 0.91, 0.82])
def test_a_full_core_of_a_polling_target_proves_nothing(target: float) -> None:
    kind, reason = verdict(1.0, target)
    assert kind is VerdictKind.UNKNOWN
    assert reason.startswith("the target polls (1.00 threads busy without requests), so its CPU time does not show whether it is full (gen")


def test_a_full_thread_of_a_polling_target_proves_nothing() -> None:
    kind, reason = verdict(0.9, 0.5, threads=4, thread_cores_max=1.0)
    assert kind is VerdictKind.UNKNOWN
    assert "polls" in reason


def test_a_full_generator_beside_a_polling_target_is_not_certainly_the_limit() -> None:
    kind, reason = verdict(1.0, generator=1.0)
    assert kind is VerdictKind.BOTH
    assert reason.startswith("the generator was nearly full, and the target polls")


def test_a_polling_target_with_time_to_spare_is_not_the_limit() -> None:
    assert verdict(0.6, 0.6)[0] is VerdictKind.IDLE


def test_a_quota_can_limit_a_polling_target() -> None:
    kind, reason = verdict(1.0, 0.2, thread_cores_max=1.0, threads=1, throttled_share=0.9)
    assert kind is VerdictKind.TARGET
    assert "quota" in reason
