"""Which interval decides whether a run knows enough."""

from __future__ import annotations

import pytest

from httpbench.model import Load, Verdict, VerdictKind
from httpbench.stats.interval import interval
from httpbench.stats.precision import headline, widest
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_rounds, make_trial

STEADY = (100_000, 100_100, 99_900)
LOOSE = (100_000, 120_000, 90_000)


def test_one_target_is_as_precise_as_its_figure() -> None:
    width = widest(make_rounds("c/one", LOOSE), "c/one")
    expected = interval(LOOSE)
    assert width is not None
    assert expected is not None
    assert width.half_width == pytest.approx(expected.half_width)


def test_what_befell_both_does_not_count() -> None:
    width = widest([*make_rounds("c/one", LOOSE), *make_rounds("c/two", [2 * rate for rate in LOOSE])], "c/one")
    assert width is not None
    assert width.half_width == pytest.approx(0, abs=1e-6)


def test_the_widest_decides_over_all_tables() -> None:
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


def test_nothing_is_known_of_two_rounds_and_of_none_that_count() -> None:
    assert widest([*make_rounds("c/one", STEADY), *make_rounds("c/two", STEADY[:2])], "c/one") is None
    assert widest([make_failed(make_plan("c/one"))], "c/one") is None


def test_a_target_that_never_counts_does_not_keep_the_others_from_ending() -> None:
    trials = [*make_rounds("c/one", STEADY), *(make_failed(make_plan("c/two", round_=number)) for number in range(3))]
    assert widest(trials, "c/one") is not None
    assert widest(trials, "c/two") is not None


def test_more_rounds_are_foretold_by_their_deviation() -> None:
    width = widest(make_rounds("c/one", LOOSE), "c/one")
    assert width is not None
    assert (width.rounds_for(0.01) or 0) > (width.rounds_for(0.05) or 0) > 3


def test_the_headline_is_throughput_and_with_a_rate_the_p99_of_the_times() -> None:
    assert headline(make_rounds("c/one", STEADY)) == dict(enumerate(STEADY))
    offered = make_trial(
        make_plan(load=Load(rate_rps=1000)), measurement=make_measurement(1000, response_time_us=make_distribution(100, p99=321))
    )
    assert headline([offered]) == {0: 321}
    wrong = Verdict(kind=VerdictKind.INVALID, reasons=("wrong",))
    assert headline(make_rounds("c/one", STEADY, verdict=wrong)) == {}
