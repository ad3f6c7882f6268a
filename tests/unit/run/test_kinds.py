"""Tests of the estimates of how long trials take."""

from __future__ import annotations

import pytest

from httpbench.model import Load
from httpbench.run.kinds import estimate_left_s, estimate_s
from tests.factories import make_plan, make_target

TARGETS = {"c/nginx": make_target("c/nginx")}
PLAN = [make_plan("c/nginx", load=Load(duration_s=1, warmup_s=0.5), round_=number) for number in range(4)]


def test_a_run_that_has_not_begun_takes_as_long_as_planned() -> None:
    assert estimate_left_s([], PLAN, TARGETS, 0.0) == estimate_s(PLAN, TARGETS)


def test_the_rest_of_a_run_is_as_slow_as_its_finished_trials() -> None:
    spent_s = 2 * estimate_s(PLAN[:1], TARGETS)
    assert estimate_left_s(PLAN[:1], PLAN[1:], TARGETS, spent_s) == pytest.approx(2 * estimate_s(PLAN[1:], TARGETS))
