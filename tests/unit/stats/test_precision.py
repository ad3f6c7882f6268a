"""Tests of the interval that decides whether a run has enough rounds."""

from __future__ import annotations

import pytest

from httpbench.model import Load, Verdict, VerdictKind
from httpbench.stats.interval import interval
from httpbench.stats.precision import headline, usual_duration_s, widest
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_rounds, make_trial

STEADY = (100_000, 100_100, 99_900)
LOOSE = (100_000, 120_000, 90_000)


def test_a_single_target_uses_its_own_interval() -> None:
    width = widest(make_rounds("c/one", LOOSE), "c/one")
    expected = interval(LOOSE)
    assert width is not None
    assert expected is not None
    assert width.half_width == pytest.approx(expected.half_width)


def test_effects_on_both_targets_cancel() -> None:
    width = widest([*make_rounds("c/one", LOOSE), *make_rounds("c/two", [2 * rate for rate in LOOSE])], "c/one")
    assert width is not None
    assert width.half_width == pytest.approx(0, abs=1e-6)


def test_the_widest_interval_of_all_tables_decides() -> None:
    more = {"load": Load(connections=256)}
    trials = [
        *make_rounds("c/one", STEADY),
        *make_rounds("c/two", STEADY),
        *make_rounds("c/one", STEADY, plan=more),
        *make_rounds("c/two", LOOSE, plan=more),
    ]
    width = widest(trials, "c/one")
    assert width is not None
    assert width.half_width > 0.1


def test_too_few_valid_rounds_have_no_width() -> None:
    assert widest([*make_rounds("c/one", STEADY), *make_rounds("c/two", STEADY[:2])], "c/one") is None
    assert widest([make_failed(make_plan("c/one"))], "c/one") is None


def test_a_target_without_valid_rounds_does_not_block_the_end() -> None:
    trials = [*make_rounds("c/one", STEADY), *(make_failed(make_plan("c/two", round_=number)) for number in range(3))]
    assert widest(trials, "c/one") is not None
    assert widest(trials, "c/two") is not None


def test_the_deviation_predicts_the_rounds_needed() -> None:
    width = widest(make_rounds("c/one", LOOSE), "c/one")
    assert width is not None
    assert (width.rounds_for(0.01) or 0) > (width.rounds_for(0.05) or 0) > 3


def test_headline_is_throughput_or_p99_with_a_rate() -> None:
    assert headline(make_rounds("c/one", STEADY)) == dict(enumerate(STEADY))
    offered = make_trial(
        make_plan(load=Load(rate_rps=1000)), measurement=make_measurement(1000, response_time_us=make_distribution(100, p99=321))
    )
    assert headline([offered]) == {0: 321}
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))
    assert headline(make_rounds("c/one", STEADY, verdict=wrong)) == {}


@pytest.mark.parametrize(("half_width", "seconds"), [(0.0001, 10), (0.01, 10), (0.015, 7), (0.02, 5), (0.03, 3), (0.05, 2), (10.0, 2)])
def test_wider_intervals_have_shorter_trials(half_width: float, seconds: int) -> None:
    assert usual_duration_s(half_width) == seconds
