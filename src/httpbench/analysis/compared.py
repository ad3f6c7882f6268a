"""Comparisons within one run: rows with the baseline, the ranks of all rows, the overhead of proxies, and the composite score.

Holm's correction treats each metric of a table as a separate family: higher throughput and a lower p99 are different claims.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.analysis.rows import Group, Row
from httpbench.model import Trial
from httpbench.stats.attempts import last_attempts
from httpbench.stats.composite import WEIGHTS, Composite, composite
from httpbench.stats.figures import CPU, P99, SPEED, THROUGHPUT, WALL, Figure
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.overhead import Difference, overhead
from httpbench.stats.paired import Comparison, Rounds, compare, corrected
from httpbench.stats.ranks import pooled, ranks, rounds_to_rank
from httpbench.stats.summary import cells


@dataclass(frozen=True, slots=True)
class Compared:
    """One row compared with the baseline."""

    row: Row
    baseline: Row
    figures: dict[str, Comparison | None]
    """Comparisons by metric, the headline first. ``None``: no round has the metric for both rows."""


def figures(group: Group) -> tuple[Figure, ...]:
    """Return the metrics that a table compares. If the load has a rate, these are p99 and CPU time, because the rate fixes throughput."""
    if group.client_work is not None:
        return (WALL, CPU)
    return (THROUGHPUT, P99) if group.load.rate_rps is None else (P99, CPU)


def against(group: Group, baseline: str) -> list[Compared]:
    """Compare every other row with the baseline, in table order. Empty if the table lacks the baseline."""
    theirs = group.row(baseline)
    if theirs is None:
        return []
    others = [row for row in group.rows if row is not theirs]
    columns = {figure.name: corrected([_compare(row, theirs, figure) for row in others]) for figure in figures(group)}
    return [Compared(row, theirs, {name: column[index] for name, column in columns.items()}) for index, row in enumerate(others)]


def ahead(group: Group, leader: Row, others: Sequence[Row]) -> list[Compared]:
    """Compare one row with each of the other rows by its headline: throughput, p99 at a rate, or the speed of a client."""
    figure = SPEED if group.client_work is not None else figures(group)[0]
    found = corrected([_compare(leader, other, figure) for other in others])
    return [Compared(leader, other, {figure.name: comparison}) for other, comparison in zip(others, found, strict=True)]


def ranking(group: Group) -> dict[str, int]:
    """Return the rank of each target by throughput, or by time for clients, in table order.

    Lower bounds, flaky rows and rows with too few valid rounds have no rank. A table with a rate has no ranks.
    """
    if group.load.rate_rps is not None:
        return {}
    rows = _ranked(group)
    return dict(zip((row.target.id for row in rows), ranks(_speeds(group, rows)), strict=True))


def rounds_to_tell(group: Group) -> int | None:
    """Return how many rounds would tell at least two rows apart, or ``None`` if more than is practical."""
    return rounds_to_rank(_speeds(group, _ranked(group)))


def flaky(group: Group) -> list[Row]:
    """Return the rows that lost so many rounds that including them would leave all other rows without ranks."""
    ranked = _ranked(group)
    return [row for row in _eligible(group) if row not in ranked]


def differences(group: Group, baseline: str | None) -> dict[str, dict[str, Difference]]:
    """Return what each target adds to the baseline, by target and metric. Empty if the table lacks the baseline."""
    theirs = group.row(baseline)
    if theirs is None:
        return {}
    return {row.target.id: overhead(row.trials, theirs.trials) for row in group.rows if row is not theirs}


def composite_of(trials: Sequence[Trial]) -> Composite | None:
    """Return the composite scores of a run, or ``None`` if it has too few of TechEmpower's tests or too few targets.

    As in TechEmpower's ranking, each target is scored at the load at which it performs best.
    """
    figures: dict[str, dict[str, Rounds]] = {}
    for cell in cells(trials):
        plan = cell[0].plan
        if plan.workload in WEIGHTS and plan.load.rate_rps is None and (rounds := _throughputs(cell)):
            of_target = figures.setdefault(plan.target, {})
            of_target[plan.workload] = max(of_target.get(plan.workload, {}), rounds, key=_median)
    return composite(figures)


def _ranked(group: Group) -> list[Row]:
    rows = _eligible(group)
    return [rows[index] for index in pooled(_speeds(group, rows))]


def _eligible(group: Group) -> list[Row]:
    return [row for row in group.rows if row.summary.rounds_counting >= ROUNDS_MIN and not row.is_lower_bound]


def _speeds(group: Group, rows: list[Row]) -> list[Rounds]:
    figure = SPEED if group.client_work is not None else THROUGHPUT
    return [figure.rounds(row.trials) for row in rows]


def _compare(ours: Row, theirs: Row, figure: Figure) -> Comparison | None:
    return compare(figure.rounds(ours.trials), figure.rounds(theirs.trials), figure.resolution)


def _throughputs(cell: Sequence[Trial]) -> Rounds:
    counting = [(trial.plan.round, trial.measurement) for trial in last_attempts(cell) if trial.verdict.counts]
    return {number: measured.throughput_rps for number, measured in counting if measured and measured.throughput_rps > 0}


def _median(rounds: Rounds) -> float:
    return statistics.median(rounds.values()) if rounds else 0.0
