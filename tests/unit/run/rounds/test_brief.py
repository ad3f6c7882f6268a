"""Tests that the short forms of trials lead to the same decisions as the whole trials."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import Load, Trial
from httpbench.run.rounds.brief import brief
from httpbench.stats.hopeless import common_failure
from httpbench.stats.precision import widest
from tests.factories import make_distribution, make_failed, make_measurement, make_plan, make_trial

RATE = 1000.0


def rounds(rate_rps: float | None, *reported: str) -> list[Trial]:
    """Return five rounds of two targets, in which the load generator reported these distributions."""
    trials = []
    for round_ in range(5):
        for target, rps in (("a/a", RATE + round_), ("b/b", 1.1 * RATE - round_)):
            times: dict[str, Any] = {"service_time_us": None}
            times |= {name: make_distribution(rps + place) for place, name in enumerate(reported)}
            measured = make_measurement(rps, **times)
            trials.append(make_trial(make_plan(target, round_, load=Load(connections=64, rate_rps=rate_rps)), measurement=measured))
    return trials


@pytest.mark.parametrize(
    "whole",
    [
        rounds(None, "service_time_us"),
        rounds(RATE, "service_time_us", "response_time_us"),
        rounds(RATE, "response_time_us"),
        rounds(RATE, "service_time_us"),
    ],
    ids=["closed loop", "both times", "response times", "service times"],
)
def test_the_widest_interval_is_the_same(whole: list[Trial]) -> None:
    expected = widest(whole, "a/a")
    assert expected is not None
    assert widest([brief(trial, with_result=True) for trial in whole], "a/a") == expected


def test_a_common_failure_is_the_same() -> None:
    whole = [make_failed(make_plan(target)) for target in ("a/a", "b/b")]
    assert common_failure(whole)
    assert common_failure([brief(trial, with_result=False) for trial in whole]) == common_failure(whole)
