"""Tests of slow times and their causes: only what the samples of that time show, and more than usual, is a cause."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.model import Cores, Interval, Load, Observed, Sample, Trial, Usage
from httpbench.stats.slices import Slice, combined
from httpbench.stats.stall_causes import StallCause, slow_times
from tests.factories import make_measurement, make_plan, make_trial, make_usage

TENTHS = 100
"""Number of samples and of intervals: ten per second."""
SLOW = range(40, 60)
"""Slow intervals: from 4 to 6 s."""
CORES = Cores(target=(0,), generator=(1,), database=(2,), harness=(1,), shared=False, siblings=((0,), (1,), (2,)))


def intervals(slow_share: float = 0.1) -> tuple[Interval, ...]:
    counts = [round(1000 * (slow_share if at in SLOW else 1)) for at in range(TENTHS)]
    return tuple(Interval(start_s=at / 10, duration_s=0.1, completed=count) for at, count in enumerate(counts))


def usage(slow_cores: float = 0.9, usual_cores: float = 0.9, **changes: Any) -> Usage:
    cores = [slow_cores if at in SLOW else usual_cores for at in range(TENTHS)]
    samples = tuple(Sample(at_s=(at + 1) / 10, cpu_cores=each, rss_bytes=1_000_000, processes=1) for at, each in enumerate(cores))
    return make_usage(samples=samples, **changes)


def trial(observed: Observed, slow_share: float = 0.1, **plan: Any) -> Trial:
    measurement = make_measurement(intervals=intervals(slow_share))
    return make_trial(make_plan(cores=CORES, **plan), measurement=measurement).model_copy(update={"observed": observed})


def during(slow_s: float, usual_s: float = 0.0) -> tuple[float, ...]:
    return tuple(slow_s if at in SLOW else usual_s for at in range(TENTHS))


def causes(observed: Observed, **options: Any) -> list[StallCause | None]:
    return [slow.cause for slow in slow_times(trial(observed, **options))]


def test_a_slow_time_begins_and_ends_with_its_intervals() -> None:
    (slow,) = slow_times(trial(Observed(target_usage=usage())))
    assert (slow.start_s, slow.end_s, slow.rps) == pytest.approx((4.0, 6.0, 1000.0))
    assert slow.cause is None


def test_a_quota_that_was_used_up_just_then_is_the_cause() -> None:
    assert causes(Observed(target_usage=usage(throttled_samples_s=during(0.09)))) == [StallCause.THROTTLED]


def test_a_quota_that_throttles_all_the_time_is_no_cause() -> None:
    assert causes(Observed(target_usage=usage(throttled_samples_s=during(0.06, 0.05)))) == [None]


def test_steal_just_then_is_the_cause() -> None:
    assert causes(Observed(target_usage=usage(stolen_samples_s=during(0.08)))) == [StallCause.STOLEN]


def test_too_little_steal_for_the_loss_is_no_cause() -> None:
    assert causes(Observed(target_usage=usage(stolen_samples_s=during(0.02)))) == [None]


def test_a_full_database_is_the_cause_if_the_target_was_idle() -> None:
    busy = usage(slow_cores=1.0, usual_cores=0.4)
    assert causes(Observed(target_usage=usage(slow_cores=0.05), database_usage=busy)) == [StallCause.DATABASE]
    assert causes(Observed(target_usage=usage(slow_cores=0.9), database_usage=busy)) == [None]
    assert causes(Observed(target_usage=usage(slow_cores=0.05), database_usage=usage(slow_cores=0.4, usual_cores=0.4))) == [None]


def test_the_largest_of_several_causes_counts() -> None:
    both = usage(throttled_samples_s=during(0.05), stolen_samples_s=during(0.09))
    assert causes(Observed(target_usage=both)) == [StallCause.STOLEN]


def test_a_slow_slice_has_the_cause_that_its_samples_show() -> None:
    """In each slice of 100 ms, the target runs for 40 ms before and after the window."""
    counts = [100 if at == 5 else 1000 for at in range(8)]
    parts = tuple(Interval(start_s=at / 10, duration_s=0.1, completed=count) for at, count in enumerate(counts))
    sample = Sample(at_s=0.14, cpu_cores=0.9, rss_bytes=1_000_000, processes=1)
    slices = [
        Slice(
            Observed(target_usage=make_usage(samples=(sample,), throttled_samples_s=(0.126 if at == 5 else 0.0,))),
            window_s=0.1,
            ran_s=0.14,
            counted_share=0.7,
        )
        for at in range(8)
    ]
    made = make_trial(make_plan(cores=CORES, slices=8), measurement=make_measurement(intervals=parts))
    (slow,) = slow_times(made.model_copy(update={"observed": combined(slices)}))
    assert (slow.start_s, slow.end_s) == pytest.approx((0.5, 0.6))
    assert slow.cause is StallCause.THROTTLED


def test_loads_that_change_have_no_slow_times() -> None:
    stalled = Observed(target_usage=usage(throttled_samples_s=during(0.09)))
    assert causes(stalled, load=Load(rate_rps=2000, rate_from_rps=1000, rate_step_rps=1000, step_s=5, duration_s=10)) == []


def test_few_responses_may_be_slow_by_chance() -> None:
    few = tuple(Interval(start_s=at / 10, duration_s=0.1, completed=2 if at == 50 else 10) for at in range(TENTHS))
    assert slow_times(make_trial(make_plan(cores=CORES), measurement=make_measurement(intervals=few))) == []


@given(st.lists(st.integers(0, 2000), min_size=4, max_size=80))
def test_slow_times_are_apart_and_slow(counts: list[int]) -> None:
    parts = tuple(Interval(start_s=at / 10, duration_s=0.1, completed=count) for at, count in enumerate(counts))
    made = make_trial(make_plan(cores=CORES), measurement=make_measurement(intervals=parts))
    found = slow_times(made)
    assert all(one.end_s < other.start_s for one, other in itertools.pairwise(found))
    median = sorted(counts)[len(counts) // 2] * 10
    assert all(slow.rps < median for slow in found)
