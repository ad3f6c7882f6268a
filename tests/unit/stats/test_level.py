"""Tests that service levels are checked in one trial and in all trials of a search."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Bound, CoreOccupancy, Load, Search, ServiceLevel, Trial, Verdict, VerdictKind
from httpbench.report.words import curves
from httpbench.report.words.reasons import joined, sentence
from httpbench.stats.level import (
    DISTURBED_MAX,
    bracket,
    closed_loop_rps,
    is_too_disturbed,
    misses,
    observations,
    phases,
    rate_min_rps,
    responses_needed,
    saturation,
)
from httpbench.stats.search import Bounds
from tests.factories import make_distribution, make_measurement, make_plan, make_trial, make_usage

IDLE = Verdict(kind=VerdictKind.IDLE)
OVER = Verdict(kind=VerdictKind.INVALID, reasons=("offered 1,100 requests/s, achieved 1,000 (90.9%)",))


def make_search(*bounds: Bound, **changes: Any) -> Search:
    level = ServiceLevel(bounds=bounds or (Bound(figure="p99", limit_us=5000),))
    return Search(**{"level": level, "duration_s": 5.0, "scout_duration_s": 1.0, **changes})


def trial(rate: float | None, p99_us: float = 1000, duration_s: float = 5.0, verdict: Verdict = IDLE, **changes: Any) -> Trial:
    load = Load(connections=64, duration_s=duration_s, rate_rps=rate)
    times = make_distribution(p99_us / 2.5)
    measurement = make_measurement(rate or 1000.0, duration_s, response_time_us=times if rate else None)
    return make_trial(make_plan(load=load), verdict, measurement=measurement, target_usage=make_usage(0.5), **changes)


@pytest.mark.parametrize(("p99_us", "missed"), [(4999, ()), (5000, ("p99 was 5 ms",)), (7310, ("p99 was 7.31 ms",))])
def test_a_bound_must_not_be_reached(p99_us: float, missed: tuple[str, ...]) -> None:
    assert tuple(map(sentence, misses(make_search(), trial(1000, p99_us)))) == missed


def test_all_bounds_must_hold_and_each_miss_is_reported() -> None:
    search = make_search(Bound(figure="p50", limit_us=100), Bound(figure="p99", limit_us=5000), Bound(figure="max", limit_us=7000))
    assert tuple(map(sentence, misses(search, trial(1000, 1000)))) == ("p50 was 0.4 ms", "max was 8 ms")


def test_a_bound_can_be_about_the_first_byte() -> None:
    search = make_search(Bound(figure="ttfb_p99", limit_us=800), Bound(figure="p99", limit_us=5000))
    slow = trial(1000, 4000)
    for p99_us, missed in ((700, ()), (900, ("TTFB p99 was 0.9 ms",))):
        assert slow.measurement is not None
        measurement = slow.measurement.model_copy(update={"first_byte_us": make_distribution(p99_us / 2.5)})
        assert tuple(map(sentence, misses(search, slow.model_copy(update={"measurement": measurement})))) == missed
    assert joined(misses(search, slow)) == "too few responses for TTFB p99"
    assert responses_needed(make_search(Bound(figure="ttfb_p99_9", limit_us=800))) == 10_000


def test_a_missed_rate_fails_even_with_short_times() -> None:
    assert misses(make_search(), trial(1100, 10, verdict=OVER)) == OVER.reasons


def test_an_unknown_statistic_does_not_meet_its_bound() -> None:
    search = make_search(Bound(figure="p99_99", limit_us=5000))
    few = make_measurement(1000, response_time_us=make_distribution(100, p99_99=None))
    assert joined(misses(search, trial(1000).model_copy(update={"measurement": few}))) == "too few responses for p99.99"


def test_trials_are_long_enough_for_the_highest_percentile() -> None:
    search = make_search(Bound(figure="p99", limit_us=5000))
    assert responses_needed(search) == 1000
    scouts, final = phases(search)
    assert (scouts.duration_s(10_000), final.duration_s(10_000)) == (1.0, 5.0)
    assert scouts.duration_s(100) == final.duration_s(100) == 11.0
    assert final.duration_s(rate_min_rps(search)) == pytest.approx(60)


def test_failed_trials_do_not_count_for_their_rate() -> None:
    lost = trial(1000, verdict=Verdict(kind=VerdictKind.FAILED, reasons=("port 80 is taken",)))
    assert observations(make_search(), [lost.model_copy(update={"measurement": None})]) == []


def test_the_result_uses_only_trials_that_count() -> None:
    search = make_search(width=0.05)
    short = [trial(1030, 900, duration_s=1.0), trial(1100, 900, duration_s=1.0, verdict=OVER)]
    held = [trial(1000, 900), trial(1000, 9000), trial(1000, 900)]
    failed = [trial(1040, 9000), trial(1040, 9000)]
    found = saturation(search, [trial(None), *short, *held, *failed])
    assert (found.rate_rps, found.rate_failed_rps, found.is_narrow) == (1000, 1040, True)
    assert [(point.rate_rps, point.held, point.trials) for point in found.curve] == [(1000, 2, 3), (1040, 0, 2)]
    assert found.closed_loop_rps == 1000
    assert found.curve[0].times_us["p99"] == 900, "the median over trials"
    assert not found.generator_limited


def test_a_rate_beyond_the_generator_does_not_limit_the_target() -> None:
    weak = trial(1100, verdict=OVER, generator_usage=make_usage(0.99))
    found = saturation(make_search(), [trial(1000), trial(1000), weak, weak])
    assert found.generator_limited


def test_a_search_without_measurements_has_a_result() -> None:
    found = saturation(make_search(), [])
    assert (found.rate_rps, found.curve, closed_loop_rps([])) == (None, (), None)


LOUD: dict[str, Any] = {
    "occupancy": tuple(CoreOccupancy(cpu=cpu, busy=0.5, stolen=0.1) for cpu in range(2)),
    "generator_usage": make_usage(0.5),
}
"""Observations in which other virtual machines took a tenth of each of the two cores."""


def test_disturbed_trials_do_not_count_and_disturbers_are_reported() -> None:
    search = make_search()
    trials = [trial(None), trial(1000), trial(1000), trial(1005, 9000, **LOUD), trial(1005, 9000, **LOUD)]
    found = saturation(search, trials)
    assert (found.rate_rps, found.rate_failed_rps, found.disturbed) == (1000, None, 2)
    assert [point.rate_rps for point in found.curve] == [1000]
    said = "2 of 5 trials were disturbed and do not count: other virtual machines took 0.10 of the target's core"
    assert said in curves.sentences(search, found, trials)[-1]


def test_disturbed_trials_do_not_count_even_if_they_held() -> None:
    assert observations(make_search(), [trial(1000, **LOUD)]) == []


def test_too_many_disturbed_trials_end_the_search() -> None:
    trials = [trial(None), *[trial(1000, 9000, **LOUD)] * DISTURBED_MAX]
    assert is_too_disturbed(trials)
    assert not is_too_disturbed([*trials, trial(1000)])
    assert not is_too_disturbed(trials[:-1])
    assert "trials in a row were disturbed" in curves.sentences(make_search(), saturation(make_search(), trials), trials)[-1]


def test_the_observed_range_covers_all_trials_that_count() -> None:
    search = make_search()
    trials = [trial(950), trial(950, 9000), trial(950), trial(1000), trial(1000), trial(1008, 9000), trial(1008), trial(1008, 9000)]
    found = saturation(search, trials)
    assert (found.rate_rps, found.rate_failed_rps) == (1000, 1008)
    assert (found.rate_low_rps, found.rate_high_rps) == (950, 1008)
    assert "trials disagree between 950 and 1,008 requests/s" in curves.sentences(search, found, trials)


def test_a_search_without_a_retest_is_marked() -> None:
    search = make_search()
    trials = [trial(1000), trial(1000), trial(1008, 9000), trial(1008, 9000)]
    found = saturation(search, trials)
    assert (found.is_narrow, found.is_retested) == (True, False)
    assert curves.sentences(search, found, trials)[0].endswith("; the search ended before both were retested")
    again = saturation(search, [*trials, *trials])
    assert again.is_retested
    assert curves.sentences(search, again, trials)[0].endswith(
        "holds at 1,000 requests/s (in 4 of 4 trials) and fails at 1,008 (in 4 of 4 trials)"
    )


def test_a_disturbed_reference_is_not_the_start_of_the_search() -> None:
    search = make_search()
    quiet, loud = trial(None), trial(None, **LOUD)
    low = loud.model_copy(update={"measurement": make_measurement(400.0, 5.0)})
    assert closed_loop_rps([low, quiet]) == 1000.0
    assert closed_loop_rps([low, loud, low]) == 1000.0, "if all are disturbed, the highest is the least wrong"
    assert not saturation(search, [low, quiet]).closed_loop_disturbed
    found = saturation(search, [low, loud])
    assert found.closed_loop_disturbed
    assert "closed loop, for comparison: 1,000 requests/s, too low because other programs disturbed it" in curves.sentences(
        search, found, [low, loud]
    )


def test_the_scouts_show_the_interval_until_a_rate_is_decided() -> None:
    search = make_search()
    assert bracket(search, [trial(None)]) == Bounds(None, None)
    scouts = [trial(None), trial(10_000, duration_s=1.0), trial(11_000, 9000, duration_s=1.0)]
    assert bracket(search, scouts) == Bounds(10_000, 11_000)
    assert bracket(search, [*scouts, *[trial(10_200)] * 3]) == Bounds(10_200, 11_000)
    assert bracket(search, [*scouts, *[trial(11_200)] * 3]) == Bounds(11_200, None), "trials that count contradict the scouts"
