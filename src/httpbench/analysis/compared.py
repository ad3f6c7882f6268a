"""Which rows of a table are compared, in which figures; and the ranks of all.

Each figure of a table is a family of its own for Holm's correction: more throughput and a lower p99 are different claims.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.analysis.rows import Group, Row
from httpbench.stats.figures import CPU, P99, SPEED, THROUGHPUT, WALL, Figure
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.paired import Comparison, Rounds, compare, corrected
from httpbench.stats.ranks import pooled, ranks, rounds_to_rank


@dataclass(frozen=True, slots=True)
class Compared:
    """One row against the baseline."""

    row: Row
    baseline: Row
    figures: dict[str, Comparison | None]
    """By the figure's name, the headline first; ``None`` where no round of both has it."""


def figures(group: Group) -> tuple[Figure, ...]:
    """With a rate throughput is fixed, so p99 and its cost are compared. Clients are timed as whole processes."""
    if group.client_work is not None:
        return (WALL, CPU)
    return (THROUGHPUT, P99) if group.load.rate_rps is None else (P99, CPU)


def against(group: Group, baseline: str) -> list[Compared]:
    """Every other row of the table against the baseline, in the table's order; nothing where that is not in the table."""
    theirs = next((row for row in group.rows if row.target.id == baseline), None)
    if theirs is None:
        return []
    others = [row for row in group.rows if row is not theirs]
    columns = {figure.name: corrected([_compare(row, theirs, figure) for row in others]) for figure in figures(group)}
    return [Compared(row, theirs, {name: column[index] for name, column in columns.items()}) for index, row in enumerate(others)]


def ahead(group: Group, leader: Row, others: Sequence[Row]) -> list[Compared]:
    """One row against each of the others, in its headline: throughput, at a rate p99, of clients speed."""
    figure = SPEED if group.client_work is not None else figures(group)[0]
    found = corrected([_compare(leader, other, figure) for other in others])
    return [Compared(leader, other, {figure.name: comparison}) for other, comparison in zip(others, found, strict=True)]


def ranking(group: Group) -> dict[str, int]:
    """Id → rank by throughput, of clients by time; in the table's order. Without generator-bound rows, rows with too few valid
    rounds, and flaky ones; empty for tables with a rate."""
    if group.load.rate_rps is not None:
        return {}
    rows = _ranked(group)
    return dict(zip((row.target.id for row in rows), ranks(_speeds(group, rows)), strict=True))


def rounds_to_tell(group: Group) -> int | None:
    """How many rounds would show a significant difference between at least two rows; ``None``: more than is practical."""
    return rounds_to_rank(_speeds(group, _ranked(group)))


def flaky(group: Group) -> list[Row]:
    """Rows that lost so many rounds that all others would lose their ranks."""
    ranked = _ranked(group)
    return [row for row in _eligible(group) if row not in ranked]


def _ranked(group: Group) -> list[Row]:
    rows = _eligible(group)
    return [rows[index] for index in pooled(_speeds(group, rows))]


def _eligible(group: Group) -> list[Row]:
    return [row for row in group.rows if row.summary.rounds_counting >= ROUNDS_MIN and not row.is_lower_bound]


def _speeds(group: Group, rows: list[Row]) -> list[Rounds]:
    figure = SPEED if group.client_work is not None else THROUGHPUT
    return [_rounds(row, figure) for row in rows]


def _compare(ours: Row, theirs: Row, figure: Figure) -> Comparison | None:
    return compare(_rounds(ours, figure), _rounds(theirs, figure), figure.resolution)


def _rounds(row: Row, figure: Figure) -> Rounds:
    return figure.rounds(row.trials)
