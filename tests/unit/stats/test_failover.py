"""Tests of the figures of a failing backend, with requests whose fate is known."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Failover, Fault, Interval, Load, ReasonKind
from httpbench.stats.failover import Count, SeenBackend, failover, problems
from tests.factories import make_measurement

RATE_RPS = 400.0
LOAD = Load(connections=512, rate_rps=RATE_RPS, duration_s=20, warmup_s=1, fault=Fault.STALL, fault_at_s=2, fault_s=8)
FAILED_AT_S, RETURNED_AT_S, END_S = 2.0, 10.0, 20.0


def interval(index: int, bad_from_s: float, bad_until_s: float, *, slow: bool) -> Interval:
    """Return an interval in which half of the requests fail, or are slow, for the part of it that lies within the bad time."""
    start_s = index / 10
    bad_s = max(min(start_s + 0.1, bad_until_s) - max(start_s, bad_from_s), 0.0)
    bad = round(RATE_RPS / 2 * bad_s)
    return Interval(start_s=start_s, duration_s=0.1, completed=40, errors=0 if slow else bad, slow=bad if slow else 0)


def seen(used_again_at_s: float, waiting: int = 0) -> SeenBackend:
    """Return the counts of a backend that handled half of the requests until its failure, and again from a certain time.

    ``waiting`` requests waited for it during a stall.
    """
    before = [Count(at / 10, round(RATE_RPS / 2 * at / 10)) for at in range(21)]
    after = [Count(10.01 + at / 10, waiting + round(RATE_RPS / 2 * max(10.01 + at / 10 - used_again_at_s, 0.0))) for at in range(100)]
    return SeenBackend(FAILED_AT_S, RETURNED_AT_S, before, [Count(RETURNED_AT_S, 0), *after])


def found(bad_until_s: float = 2.0, used_again_at_s: float = RETURNED_AT_S, *, slow: bool = False, waiting: int = 0) -> Failover:
    intervals = tuple(interval(index, FAILED_AT_S, bad_until_s, slow=slow) for index in range(200))
    measurement = make_measurement(duration_s=END_S, intervals=intervals)
    return failover(LOAD, measurement, seen(used_again_at_s, waiting))


@given(avoided_s=st.floats(0.0, 6.9), used_s=st.floats(0.0, 8.0), slow=st.booleans(), waiting=st.integers(0, 500))
def test_the_times_are_those_at_which_requests_fail_and_are_used_again(avoided_s: float, used_s: float, slow: bool, waiting: int) -> None:
    result = found(FAILED_AT_S + avoided_s, RETURNED_AT_S + used_s, slow=slow, waiting=waiting)
    assert result.avoided and result.used_again
    # Half of the requests are bad, and an interval with up to 10% of bad requests isn't bad: the last 0.02 s may be missed.
    assert -0.031 <= result.avoided_s - avoided_s <= 0.1001
    assert math.isclose(result.used_again_s, used_s, abs_tol=0.11) or (used_s < 0.3 and result.used_again_s == 0.0)
    lost = result.slow if slow else result.failed
    assert math.isclose(lost, RATE_RPS / 2 * avoided_s, abs_tol=0.5)
    assert result.failed_share == result.failed / (RATE_RPS * 8)


def test_a_proxy_that_never_avoids_the_backend_has_a_lower_bound() -> None:
    result = found(RETURNED_AT_S)
    assert (result.avoided, result.avoided_s) == (False, 8.0)
    assert (result.failed, result.failed_share) == (1600, 0.5)


def test_a_proxy_that_never_uses_the_backend_again_has_a_lower_bound() -> None:
    result = found(2.5, END_S)
    assert (result.used_again, result.used_again_s) == (False, 10.0)


def test_a_request_that_tries_the_failed_backend_now_and_then_is_no_bad_interval() -> None:
    intervals = tuple(Interval(start_s=at / 10, duration_s=0.1, completed=40, errors=int(at % 10 == 0), slow=0) for at in range(200))
    result = failover(LOAD, make_measurement(duration_s=END_S, intervals=intervals), seen(RETURNED_AT_S))
    assert (result.avoided_s, result.avoided, result.failed) == (0.0, True, 18)


def test_a_fault_that_shows_nothing_is_a_problem() -> None:
    fine = make_measurement(duration_s=END_S, intervals=tuple(interval(index, 2.0, 3.0, slow=False) for index in range(200)))
    assert problems(LOAD, fine, seen(RETURNED_AT_S)) == []
    unused = SeenBackend(FAILED_AT_S, RETURNED_AT_S, [Count(at / 10, at) for at in range(21)], [])
    assert [each.kind for each in problems(LOAD, fine, unused)] == [ReasonKind.SECOND_BACKEND_UNUSED]
    early = make_measurement(duration_s=END_S, intervals=tuple(interval(index, 0.0, 3.0, slow=False) for index in range(200)))
    assert [each.kind for each in problems(LOAD, early, seen(RETURNED_AT_S))] == [ReasonKind.FAILED_BEFORE_FAULT]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"fault_s": None}, "requires all of fault, fault_at_s and fault_s"),
        ({"rate_rps": None}, "fault requires rate_rps"),
        ({"tls": True}, "fault requires plain HTTP/1.1"),
        ({"warmup_max_s": 10}, "fault requires a warm-up of fixed length"),
        ({"duration_s": 10.5}, "10.5 s is too short: "),
    ],
)
def test_a_load_with_an_impossible_fault_is_refused(changes: dict[str, object], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        Load.model_validate(LOAD.model_dump() | changes)
