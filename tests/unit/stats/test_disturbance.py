"""Who disturbed a trial: by what others did, never by its result."""

from __future__ import annotations

from typing import Any

import pytest

from httpbench.model import CoreOccupancy, Load, Trial, Verdict, VerdictKind
from httpbench.stats.disturbance import disturbance
from tests.factories import SHARED, make_measurement, make_plan, make_trial, make_usage


def trial(busy: float = 0.9, stolen: float = 0.0, waited: float | None = 0.0, **changes: Any) -> Trial:
    """Two measured cores, of which target and generator use 0.85 each."""
    values: dict[str, Any] = {
        "measurement": make_measurement(),
        "target_usage": make_usage(0.85),
        "generator_usage": make_usage(0.85, cpu_wait_cores_mean=waited),
        "occupancy": tuple(CoreOccupancy(cpu=cpu, busy=busy, stolen=stolen) for cpu in range(2)),
    }
    return make_trial(changes.pop("plan", make_plan()), **{**values, **changes})


@pytest.mark.parametrize(
    ("quantities", "said"),
    [
        ({}, None),
        ({"busy": 0.94}, None),
        ({"busy": 1.0}, "other programs took 0.30 of the 2 measured cores"),
        ({"stolen": 0.04}, None),
        ({"stolen": 0.05}, "other virtual machines took 0.10 of the 2 measured cores"),
        ({"waited": 0.09}, None),
        ({"waited": 0.35}, "the load generator waited for a CPU 35% of the time"),
        ({"waited": None}, None),
    ],
)
def test_a_trial_is_disturbed_by_what_others_took(quantities: dict[str, float], said: str | None) -> None:
    assert disturbance(trial(**quantities)) == said


def test_all_who_disturbed_are_named() -> None:
    said = disturbance(trial(busy=1.0, stolen=0.05, waited=0.35))
    assert said is not None and said.count("; ") == 2


def test_the_result_does_not_matter() -> None:
    invalid = Verdict(kind=VerdictKind.INVALID, reasons=("no correct response",))
    assert disturbance(trial().model_copy(update={"verdict": invalid})) is None
    for rps in (1.0, 1e6):
        assert disturbance(trial(busy=1.0, measurement=make_measurement(rps))) is not None


def test_on_shared_cores_the_target_makes_the_generator_wait_and_is_no_stranger() -> None:
    assert disturbance(trial(waited=0.8, plan=make_plan(cores=SHARED))) is None


def test_what_was_not_watched_is_not_called_disturbed() -> None:
    assert disturbance(make_trial(measurement=None)) is None
    assert disturbance(trial(occupancy=())) is None
    assert disturbance(trial(target_usage=None, busy=1.0)) is None
    assert disturbance(trial(plan=make_plan(load=Load(rate_rps=100)))) is None
