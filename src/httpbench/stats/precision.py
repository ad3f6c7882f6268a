"""Are these rounds enough: how wide the widest interval of a run is, and how many rounds would make it as narrow as requested.

The intervals that count are those that the run is made for: of the ratio to the baseline where there are several targets, of the figure
itself where there is one; in every table of the run.

To look after each round and to stop when an interval happens to be narrow favours rounds that happen to agree. With five rounds before the
first look the interval that ended a run holds the truth in at least 92% of runs instead of 95% (simulated in
``tests/unit/stats/test_interval_coverage.py``). A width is looked at and never a difference: to stop when a difference becomes clear would
find one in most pairs of identical servers.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from httpbench.model import Trial
from httpbench.stats.interval import LEFT_OUT, ROUNDS_MIN, Floats, centres, quantile, rounds_for, standard_error
from httpbench.stats.paired import Rounds, log_ratios
from httpbench.stats.summary import cells

BETWEEN_CENTRES = 0.25
"""Half the distance between the centres of a comparison's interval, in standard deviations, if rounds are normal."""


@dataclass(frozen=True, slots=True)
class Width:
    """Of the widest interval so far."""

    half_width: float
    """Relative: 0.02 is «± 2%»."""
    rounds: int
    log_deviation: float
    is_ratio: bool
    """The interval is of a comparison, so it holds whichever seventh of the rounds is left out."""

    def rounds_for(self, half_width: float) -> int | None:
        """Rounds that would be enough; ``None``: more than practical."""
        enough = rounds_for(self.log_deviation, half_width)
        if not self.is_ratio or enough is None or enough < LEFT_OUT:
            return enough
        left = math.log1p(half_width) - BETWEEN_CENTRES * self.log_deviation
        return rounds_for(self.log_deviation, math.expm1(left)) if left > 0 else None


def headline(trials: Iterable[Trial]) -> Rounds:
    """The figure that a cell is compared by, for each round that counts: correct responses per second, or with
    a rate the p99 of the times in µs."""
    found = ((trial.plan.round, _headline(trial)) for trial in trials if trial.verdict.counts)
    return {number: value for number, value in found if value is not None}


def widest(trials: Sequence[Trial], baseline: str) -> Width | None:
    """Over all tables; ``None`` while one of them has an unknown interval. Targets without a valid round are left out."""
    widths = [_width(logs, is_ratio=is_ratio) for logs, is_ratio in _samples(trials, baseline)]
    known = [width for width in widths if width is not None]
    return max(known, key=lambda width: width.half_width) if known and len(known) == len(widths) else None


def _headline(trial: Trial) -> float | None:
    if trial.measurement is None:
        return None
    if trial.plan.load.rate_rps is None:
        return trial.measurement.throughput_rps
    times = trial.measurement.response_time_us or trial.measurement.service_time_us
    return times.p99 if times else None


def _samples(trials: Sequence[Trial], baseline: str) -> list[tuple[Floats, bool]]:
    """The logarithms, one for each round, of which the intervals are; and whether they are of ratios."""
    tables: dict[object, dict[str, Rounds]] = {}
    for cell in cells(trials):
        if figures := headline(cell):
            tables.setdefault(cell[0].plan.cell[1:], {})[cell[0].plan.target] = figures
    samples = []
    for rows in tables.values():
        theirs = rows.get(baseline)
        if len(rows) == 1 or theirs is None:
            samples += [(np.log(np.array(list(figures.values()))), False) for figures in rows.values()]
        else:
            samples += [(log_ratios(figures, theirs), True) for target, figures in rows.items() if target != baseline]
    return samples


def _width(logs: Floats, *, is_ratio: bool) -> Width | None:
    if len(logs) < ROUNDS_MIN:
        return None
    low, high = centres(logs) if is_ratio else (0.0, 0.0)
    reach = (high - low) / 2 + quantile(len(logs)) * standard_error(logs)
    return Width(math.expm1(reach), len(logs), float(logs.std(ddof=1)), is_ratio)
