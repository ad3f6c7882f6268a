from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Trial, Verdict, VerdictKind
from httpbench.stats.overhead import added_us, overhead, share_of
from tests.factories import make_distribution, make_measurement, make_plan, make_trial


def rounds(name: str, *p50_us: float, **changes: Any) -> list[Trial]:
    measured = [make_measurement(service_time_us=make_distribution(p50)) for p50 in p50_us]
    return [make_trial(make_plan(name, number), measurement=one, **changes) for number, one in enumerate(measured)]


def test_differences_are_computed_within_rounds() -> None:
    """Proxy and baseline both slow down by 50 µs from round to round, so the overhead stays the same."""
    found = overhead(rounds("a/b", 150, 200, 250), rounds("baseline", 100, 150, 200))["p50"]
    assert found.us == pytest.approx(50) and found.rounds == 3
    assert found.us_interval is not None
    assert found.us_interval.low == pytest.approx(50, abs=0.5) and found.us_interval.high == pytest.approx(50, abs=0.5)
    assert found.share == pytest.approx((150 / 100 * 200 / 150 * 250 / 200) ** (1 / 3) - 1)


def test_a_stalled_round_widens_the_interval_more_than_it_moves_the_mean() -> None:
    found = overhead(rounds("a/b", 1100, 1110, 1120, 1090, 1105), rounds("baseline", 100, 110, 90_000, 95, 100))["p50"]
    assert found.us_interval is not None
    assert found.us == pytest.approx((found.us_interval.low + found.us_interval.high) / 2), "± is half of the interval around the figure"
    assert found.us_interval.low < 1000 < found.us_interval.high, "as without the stall"


def test_a_proxy_may_be_faster_than_its_baseline() -> None:
    found = overhead(rounds("a/b", 90, 95, 85), rounds("baseline", 100, 100, 100))["p50"]
    assert found.us == pytest.approx(-10)
    assert found.us_interval is not None and found.us_interval.low < -10 < found.us_interval.high
    assert found.share == pytest.approx(-0.1, abs=0.002)


def test_interval_is_students_t() -> None:
    found = overhead(rounds("a/b", 110, 120, 130), rounds("baseline", 100, 100, 100))["p50"]
    assert found.us_interval is not None
    half = (found.us_interval.high - found.us_interval.low) / 2
    assert half == pytest.approx(4.303 * 10 / 3**0.5, abs=0.5)  # Student's t with two degrees of freedom, times s / √3


def test_few_rounds_have_no_interval_and_unpaired_ones_are_omitted() -> None:
    found = overhead(rounds("a/b", 110, 120), rounds("baseline", 100, 100, 100))["p50"]
    assert found.rounds == 2 and found.us_interval is None and found.share_interval is None


def test_rounds_that_do_not_count_are_omitted() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("bytes were lost",))
    assert overhead(rounds("a/b", 110, verdict=invalid), rounds("baseline", 100)) == {}
    assert added_us(rounds("a/b", 110, verdict=invalid)[0], rounds("baseline", 100)[0]) == {}


def test_differences_of_one_round() -> None:
    assert added_us(rounds("a/b", 110)[0], rounds("baseline", 100)[0])["p50"] == pytest.approx(10)


def test_shares_are_relative_to_the_baseline() -> None:
    found = share_of(rounds("a/b", 1, 1, 1), rounds("baseline", 1, 1, 1), lambda trial: 70.0 if trial.plan.target == "a/b" else 100.0)
    assert found is not None
    assert found[0] == pytest.approx(0.7)
    assert share_of(rounds("a/b", 1), [], lambda trial: 1.0) is None
