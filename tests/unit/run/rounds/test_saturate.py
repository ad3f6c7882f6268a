"""Tests of the choice of a search's next trial. No trial is actually run."""

from __future__ import annotations

from itertools import islice

import pytest

from httpbench.model import Bound, CoreOccupancy, Load, Search, ServiceLevel, Trial, Verdict, VerdictKind
from httpbench.run.rounds.saturate import upcoming
from httpbench.stats.level import DISTURBED_MAX
from tests.factories import make_distribution, make_measurement, make_plan, make_trial, make_usage

SEARCH = Search(
    level=ServiceLevel(bounds=(Bound(figure="p90", limit_us=5000),), failed_share_max=0.001),
    width=0.01,
    duration_s=5.0,
    scout_duration_s=1.0,
)
FIRST = make_plan(load=Load(connections=64, duration_s=1.0))


def trial(rate: float | None, held: bool = True, duration_s: float = 5.0, stolen: float = 0.0) -> Trial:
    return make_trial(
        make_plan(load=Load(connections=64, duration_s=duration_s, rate_rps=rate)),
        Verdict(kind=VerdictKind.IDLE),
        measurement=make_measurement(rate or 1000.0, duration_s, response_time_us=make_distribution(100 if held else 9000)),
        target_usage=make_usage(0.5),
        generator_usage=make_usage(0.4),
        occupancy=tuple(CoreOccupancy(cpu=cpu, busy=0.45, stolen=stolen) for cpu in range(2)),
    )


def rates(made: list[Trial], count: int = 1) -> list[float | None]:
    return [planned.load.rate_rps for planned in islice(upcoming(SEARCH, FIRST, made), count)]


def test_a_disturbed_trial_is_repeated_whatever_its_result() -> None:
    for held in (True, False):
        made = [trial(None), trial(1000, held, duration_s=1.0, stolen=0.2)]
        assert rates(made) == [1000]


def test_a_search_ends_when_every_trial_is_disturbed() -> None:
    loud = [trial(1000, stolen=0.2)] * DISTURBED_MAX
    assert rates([trial(None), *loud]) == []
    assert rates([trial(None), *loud[1:]]) == [1000]


def test_no_trial_begins_that_would_end_after_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    times = iter([0.0, 0.0, 172.5, 172.7])
    monkeypatch.setattr("httpbench.run.rounds.saturate.time.monotonic", times.__next__)
    made = [trial(None), trial(1000, duration_s=1.0), trial(1049, held=False, duration_s=1.0)]
    limited = SEARCH.model_copy(update={"time_max_s": 180.0})
    assert (made[-1].overhead_s, FIRST.load.warmup_s) == (0.4, 2), "a trial of 5 s takes 7.4 s"
    found = [planned.load.duration_s for planned in upcoming(limited, FIRST, made)]
    assert found == [5.0, 5.0]


def test_trials_beyond_the_highest_rate_follow_the_search() -> None:
    beyond = SEARCH.model_copy(update={"overload": 2.0, "trials_per_rate": 1, "width": 0.1})
    made = [trial(None), trial(1000, duration_s=1.0), trial(1049, held=False, duration_s=1.0), trial(1000), trial(1049, held=False)]
    made += [trial(1000), trial(1049, held=False)]
    for number in range(3):
        planned = next(upcoming(beyond, FIRST, made))
        assert (planned.load.rate_from_rps, planned.load.rate_rps, planned.round) == (2000, 500, number)
        made.append(trial(1000).model_copy(update={"plan": planned}))
    assert list(upcoming(beyond, FIRST, made)) == []


def test_number_and_round_follow_from_the_trials_so_far() -> None:
    made = [trial(None), trial(1000, duration_s=1.0), trial(1049, held=False, duration_s=1.0), trial(1000)]
    planned = next(upcoming(SEARCH, FIRST, made))
    assert (planned.load.rate_rps, planned.number, planned.round) == (1000, 4, 1)
