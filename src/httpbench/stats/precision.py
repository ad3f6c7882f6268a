"""Compute the width of the widest interval of a run, and how many rounds of which length are needed for the requested width.

This module uses the intervals of the main result in all tables of the run. In a table with several targets, these are the intervals of the
ratios to the baseline. In other tables, they are the intervals of the results themselves.

A run that checks the width after each round is likely to stop when its rounds agree by chance. With six rounds before the first check, the
final interval of a ratio still contains the true value in 95% of runs (simulated in ``tests/unit/stats/test_interval_coverage.py``). The
stopping rule considers only widths. If runs stopped as soon as a difference became significant, most pairs of identical servers would seem
to differ.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from httpbench.model import Trial
from httpbench.stats.interval import ROUNDS_MIN, Floats, between_centers, centers, quantile, rounds_for
from httpbench.stats.paired import Rounds, by_round, log_ratios, variance
from httpbench.stats.slice_noise import Slices, explained_variance, slices_of
from httpbench.stats.summary import cells

DURATION_S = 10
"""Usual duration of a trial for intervals of ± ``DURATION_WIDTH`` or less, in seconds."""

DURATION_WIDTH = 0.01

DURATION_S_MIN = 2


@dataclass(frozen=True, slots=True)
class Width:
    """The widest interval so far."""

    half_width: float
    """Half the relative width: 0.02 is "± 2%"."""
    rounds: int
    log_deviation: float
    is_ratio: bool
    """Whether this is the interval of a comparison, which also covers the means without the highest or the lowest seventh of the rounds."""

    def rounds_for(self, half_width: float) -> int | None:
        """Return how many rounds an interval of ± ``half_width`` (relative) requires; ``None`` if the number isn't practical."""
        enough = rounds_for(self.log_deviation, half_width)
        if not self.is_ratio or enough is None:
            return enough
        left = math.log1p(half_width) - between_centers(self.log_deviation, enough)
        return rounds_for(self.log_deviation, math.expm1(left)) if left > 0 else None


def usual_duration_s(half_width: float) -> int:
    """Return the usual duration of a trial for intervals of ± ``half_width`` (relative), in whole seconds.

    A wide interval needs only the minimum number of rounds, even if trials are short. Long trials would make the run longer for a precision
    that nobody requested. A narrow interval needs long trials, because each round also takes time for starting and warming up the targets.
    The duration doesn't depend on results. ``benchmarks/interleaving/precision.py`` compares this rule with rules that estimate the noise.
    """
    return min(max(round(DURATION_S * DURATION_WIDTH / half_width), DURATION_S_MIN), DURATION_S)


def headline(trials: Iterable[Trial]) -> Rounds:
    """Return the main result of a cell for each round that counts.

    The main result is correct responses per second or, with an offered rate, the p99 latency in µs.
    """
    return by_round(trials, _headline)


def widest(trials: Sequence[Trial], baseline: str) -> Width | None:
    """Return the widest interval over all tables; ``None`` if any interval is unknown.

    Targets without a valid round are left out.
    """
    widths = [_width(*sample) for sample in _samples(trials, baseline)]
    known = [width for width in widths if width is not None]
    return max(known, key=lambda width: width.half_width) if known and len(known) == len(widths) else None


def _headline(trial: Trial) -> float | None:
    if trial.measurement is None:
        return None
    if trial.plan.load.rate_rps is None:
        return trial.measurement.throughput_rps
    times = trial.measurement.response_time_us or trial.measurement.service_time_us
    return times.p99 if times else None


def _samples(trials: Sequence[Trial], baseline: str) -> list[tuple[Floats, float, bool]]:
    """Return, for each interval, the logarithms of the values of all rounds, their least variance, and whether these values are ratios."""
    tables: dict[object, dict[str, tuple[Rounds, Slices]]] = {}
    for cell in cells(trials):
        if figures := headline(cell):
            planned = cell[0].plan
            slices = slices_of(cell) if planned.load.rate_rps is None else {}
            tables.setdefault(planned.cell[1:], {})[planned.target] = figures, slices
    samples = []
    for rows in tables.values():
        theirs = rows.get(baseline)
        if len(rows) == 1 or theirs is None:
            samples += [(np.log(np.array(list(figures.values()))), 0.0, False) for figures, _ in rows.values()]
        else:
            others = [row for target, row in rows.items() if target != baseline]
            samples += [(log_ratios(row[0], theirs[0]), explained_variance(row[1], theirs[1]), True) for row in others]
    return samples


def _width(logs: Floats, explained: float, is_ratio: bool) -> Width | None:
    if len(logs) < ROUNDS_MIN:
        return None
    low, high = centers(logs) if is_ratio else (0.0, 0.0)
    log_deviation = math.sqrt(variance(logs, explained))
    reach = (high - low) / 2 + quantile(len(logs)) * log_deviation / math.sqrt(len(logs))
    return Width(math.expm1(reach), len(logs), log_deviation, is_ratio)
