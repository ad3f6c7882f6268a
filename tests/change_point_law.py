"""Simulate series of runs, with and without a change, to measure how often a change is found."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from httpbench.stats.change_points import change_points
from httpbench.stats.interval import Floats

STEP = math.log(0.95)
AFTER = 5
"""Number of runs after the step."""

NOISES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "normal": lambda random, runs: random.normal(0, 1, runs),
    "heavy tails": lambda random, runs: random.standard_t(3, runs) / math.sqrt(3),
    "one run in twenty is slow": lambda random, runs: (
        random.normal(0, 1, runs) - np.abs(random.normal(0, 5, runs)) * (random.random(runs) < 0.05)
    ),
}
"""Noise generators by name, each with a standard deviation of about 1."""


def noise(random: np.random.Generator, kind: str, runs: int, correlation: float = 0.0) -> Floats:
    """Return noise on a logarithmic scale. With ``correlation``, each value includes this share of the previous value."""
    values = NOISES[kind](random, runs)
    for index in range(1, runs):
        values[index] = correlation * values[index - 1] + math.sqrt(1 - correlation**2) * values[index]
    return values


def false_changes(random: np.random.Generator, kind: str, runs: int, correlation: float, series: int) -> float:
    """Return the number of false changes per 100 runs of pure noise."""
    found = sum(len(change_points(np.exp(0.015 * noise(random, kind, runs, correlation)).tolist())) for _ in range(series))
    return 100 * found / (series * runs)


def found_share(random: np.random.Generator, kind: str, runs_before: int, deviation: float, series: int) -> float:
    """Return the share of series in which a step of 5% is found at most one run early or late."""
    found = 0
    for _ in range(series):
        logs = deviation * noise(random, kind, runs_before + AFTER)
        logs[runs_before:] += STEP
        found += any(abs(index - runs_before) <= 1 for index in change_points(np.exp(logs).tolist()))
    return found / series
