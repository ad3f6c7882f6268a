"""Tests of what a target does beyond the highest rate, from the intervals of trials."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Arrivals, Bound, Interval, Load, Search, ServiceLevel, Step, Trial, Verdict, VerdictKind
from httpbench.stats.level import saturation
from httpbench.stats.overload import Overload, overload, overload_load
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_trial

SEARCH = Search(level=ServiceLevel(bounds=(Bound(figure="p99", limit_us=5000),)), duration_s=2.0, scout_duration_s=1.0, overload=1.5)
FIRST = Load(connections=64, duration_s=1.0, warmup_s=1.0, timeout_s=2.0, arrivals=Arrivals.POISSON)
LOAD = overload_load(SEARCH, FIRST, 1000.0)
BAD_US, GOOD_US = 900_000.0, 1000.0


def trial(recovered_after: int | None, goodput_rps: float = 1000.0, failed: int = 0, **changes: Any) -> Trial:
    """Return a trial whose intervals of 0.25 s meet the service level from the given one after the overload on."""
    assert LOAD is not None and LOAD.step_s is not None and LOAD.rate_rps is not None
    intervals = []
    for number in range(round(LOAD.duration_s * 4)):
        start_s = number / 4
        after = number - round(LOAD.step_s * 4)
        is_good = after >= 0 and recovered_after is not None and after >= recovered_after
        rps = goodput_rps if after < 0 else LOAD.rate_rps
        intervals.append(Interval(start_s=start_s, duration_s=0.25, completed=round(rps / 4), p99_us=GOOD_US if is_good else BAD_US))
    steps = tuple(
        Step(
            rate_rps=level.rate_rps,
            start_s=level.start_s,
            duration_s=level.duration_s,
            completed=round(goodput_rps * level.duration_s),
            errors=failed,
            response_time_us=make_distribution(p99=BAD_US),
        )
        for level in LOAD.levels
    )
    measured = make_measurement(goodput_rps, LOAD.duration_s, steps=steps, intervals=tuple(intervals))
    return make_trial(make_plan(load=LOAD), Verdict(kind=VerdictKind.IDLE), measurement=measured, **changes)


def found(*trials: Trial) -> Overload:
    result = overload(SEARCH, trials)
    assert result is not None
    return result


def test_the_load_exceeds_the_rate_and_then_falls_below_it_until_the_queue_is_gone() -> None:
    assert LOAD is not None
    assert [(level.rate_rps, level.start_s) for level in LOAD.levels] == [(1500.0, 0.0), (500.0, 2.0)]
    queue_s = 3.0 * 500 / 500  # 3 s with warm-up, 500 requests/s too many, of which 500 more than offered are served afterward
    assert LOAD.levels[1].duration_s >= 1.3 * queue_s
    assert overload_load(SEARCH.model_copy(update={"overload": None}), FIRST, 1000.0) is None
    many = overload_load(SEARCH.model_copy(update={"overload": 9.0}), FIRST, 1000.0)
    assert many is not None and many.duration_s == 2 + 8, "no request waits longer than the timeout"


def test_goodput_latency_and_failures_are_medians_of_the_overload() -> None:
    result = found(trial(2, 900.0, failed=200), trial(2, 1000.0), trial(2, 950.0, failed=100))
    assert (result.trials, result.offered_rps, result.after_rps) == (3, 1500.0, 500.0)
    assert result.goodput_rps == pytest.approx(950, rel=0.01)
    assert result.p99_us == BAD_US
    assert result.failed_share == pytest.approx(100 / 2000)


@pytest.mark.parametrize(
    ("after", "recovery_s"), [((0, 0, 0), 0.0), ((3, 1, 8), 0.75), ((3, 1, None), 0.75), ((None, 1, None), None), ((None,), None)]
)
def test_recovery_is_the_median_and_unknown_if_most_trials_did_not_recover(after: tuple[int | None, ...], recovery_s: float | None) -> None:
    assert found(*map(trial, after)).recovery_s == recovery_s


def test_a_target_that_falls_back_has_not_recovered() -> None:
    whole = trial(0)
    assert whole.measurement is not None
    intervals = [each.model_copy(update={"p99_us": BAD_US}) if each.start_s == 4.0 else each for each in whole.measurement.intervals]
    again = whole.model_copy(update={"measurement": whole.measurement.model_copy(update={"intervals": tuple(intervals)})})
    assert found(again).recovery_s == 2.25


def test_a_target_that_serves_too_few_requests_has_not_recovered() -> None:
    whole = trial(0)
    assert whole.measurement is not None
    few = [each.model_copy(update={"completed": 60}) if each.start_s >= 2 else each for each in whole.measurement.intervals]
    slow = whole.model_copy(update={"measurement": whole.measurement.model_copy(update={"intervals": tuple(few)})})
    assert found(slow).recovery_s is None


def test_failed_trials_do_not_count_and_the_search_ignores_all_of_them() -> None:
    assert LOAD is not None
    failed = make_failed(make_plan(load=LOAD))
    assert overload(SEARCH, [failed]) is None
    assert found(failed, trial(1)).trials == 1
    assert saturation(SEARCH, [trial(1)]).curve == ()
