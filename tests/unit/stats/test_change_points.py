"""Simulate the error rates of change point detection with fixed seeds. ``benchmarks/change_points.py`` runs longer simulations.

At most one false change per 100 runs of noise is allowed, and a step of 5% must be found within five runs.
"""

from __future__ import annotations

import time

import numpy as np
import pytest

from httpbench.stats.change_points import LEVEL_MIN, RUNS_MAX, change_points
from tests.change_point_law import NOISES, false_changes, found_share, noise

SERIES = 60


@pytest.mark.parametrize("kind", NOISES)
@pytest.mark.parametrize("correlation", [0.0, 0.2])
@pytest.mark.parametrize("runs", [20, 100])
def test_noise_has_at_most_one_false_change_in_100_runs(kind: str, correlation: float, runs: int) -> None:
    assert false_changes(np.random.default_rng(runs), kind, runs, correlation, SERIES) <= 1


@pytest.mark.parametrize(("deviation", "least"), [(0.01, 0.95), (0.02, 0.7)])
@pytest.mark.parametrize("kind", ["normal", "heavy tails"])
def test_finds_a_5_percent_step_within_five_runs(kind: str, deviation: float, least: float) -> None:
    assert found_share(np.random.default_rng(1), kind, 30, deviation, SERIES) >= least


def test_finds_both_changes_of_a_temporary_step() -> None:
    logs = 0.005 * noise(np.random.default_rng(2), "normal", 60)
    logs[30:36] -= 0.05
    assert change_points(np.exp(logs).tolist()) == [30, 36]


def test_a_single_outlier_is_not_a_change() -> None:
    values = np.exp(0.01 * noise(np.random.default_rng(3), "normal", 40))
    values[[10, 39]] *= 0.5
    assert change_points(values.tolist()) == []


def test_a_step_between_constant_values_is_the_only_change() -> None:
    assert change_points([100.0] * 30) == []
    assert change_points([100.0] * 10 + [99.0] * 10) == [10]


@pytest.mark.parametrize("runs", range(2 * LEVEL_MIN))
def test_too_few_runs_have_no_change(runs: int) -> None:
    assert change_points([float(10**number) for number in range(runs)]) == []


def test_change_points_are_deterministic() -> None:
    values = np.exp(0.02 * np.cumsum(np.random.default_rng(4).normal(0, 1, 100))).tolist()
    assert change_points(values) == change_points(values)
    assert len(change_points(values)) > 1


def test_computing_time_is_bounded_for_any_values() -> None:
    wild = np.exp(np.cumsum(np.random.default_rng(5).normal(0, 1, RUNS_MAX))).tolist()
    begun = time.thread_time()
    change_points(wild)
    assert time.thread_time() - begun < 5
