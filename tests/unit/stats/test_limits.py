"""What limited a trial, where CPU time alone does not tell: a generator that was kept off its cores, a network that lost something."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Load, Network, VerdictKind
from httpbench.stats.verdict import Evidence, judge
from tests.factories import APART, SHARED, make_measurement, make_usage


def verdict(**changes: Any) -> tuple[VerdictKind, str]:
    values: dict[str, Any] = {
        "measurement": make_measurement(),
        "load": Load(connections=64),
        "cores": APART,
        "target_usage": make_usage(0.4),
        "generator_usage": make_usage(0.2),
    }
    found = judge(Evidence(**{**values, **changes}))
    return found.kind, "; ".join(found.reasons)


@pytest.mark.parametrize(("waited", "kind"), [(0.24, VerdictKind.IDLE), (0.26, VerdictKind.GENERATOR), (None, VerdictKind.IDLE)])
def test_a_generator_that_is_kept_off_its_core_is_the_limit(waited: float | None, kind: VerdictKind) -> None:
    found, reason = verdict(generator_usage=make_usage(0.2, cpu_wait_cores_mean=waited))
    assert found is kind
    assert ("waiting for a core 0.26 of the time" in reason) == (kind is VerdictKind.GENERATOR)


@pytest.mark.parametrize(("waited", "kind"), [(0.14, VerdictKind.IDLE), (0.16, VerdictKind.GENERATOR)])
def test_a_generator_that_ran_or_was_ready_to_run_all_the_time_is_the_limit(waited: float, kind: VerdictKind) -> None:
    assert verdict(generator_usage=make_usage(0.8, cpu_wait_cores_mean=waited))[0] is kind


def test_on_shared_cores_it_is_the_target_that_it_waits_for() -> None:
    assert verdict(generator_usage=make_usage(0.2, cpu_wait_cores_mean=0.9), cores=SHARED)[0] is VerdictKind.IDLE


def test_a_busy_target_is_the_limit_whatever_the_generator_waited_for() -> None:
    kind, reason = verdict(target_usage=make_usage(0.99), generator_usage=make_usage(0.2, cpu_wait_cores_mean=0.8))
    assert kind is VerdictKind.TARGET
    assert "another load generator might show more" in reason


@pytest.mark.parametrize(("again", "kind"), [(159, VerdictKind.IDLE), (161, VerdictKind.NETWORK)])
def test_losses_that_held_connections_up_are_the_limit(again: int, kind: VerdictKind) -> None:
    """64 connections over 10 s: 160 timeouts of 0.2 s each are 5 % of their time."""
    assert verdict(network=Network(segments_sent=10**7, retransmission_timeouts=again))[0] is kind


def test_segments_that_were_sent_again_without_a_wait_hold_nobody_up() -> None:
    assert verdict(network=Network(segments_retransmitted=10_000, retransmission_timeouts=0))[0] is VerdictKind.IDLE


def test_losses_are_no_limit_where_an_offered_rate_was_reached() -> None:
    load = Load(connections=64, rate_rps=400_000)
    assert verdict(network=Network(retransmission_timeouts=10_000), load=load)[0] is VerdictKind.IDLE


def test_a_rate_that_the_generator_could_not_offer_is_not_laid_to_the_target() -> None:
    load = Load(connections=64, rate_rps=500_000)
    kind, reason = verdict(load=load, generator_usage=make_usage(0.99))
    assert kind is VerdictKind.INVALID
    assert "generator-bound (generator 0.99 of 1 core): perhaps it could not offer more" in reason
    assert "generator" not in verdict(load=load)[1]
