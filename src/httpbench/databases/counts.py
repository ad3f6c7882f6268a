"""What a database counts itself: whether a target asked it for what it responded with."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.model import DatabaseRun, Reason, ReasonKind, Rule, Workload

FORTUNES = 12
"""Rows of the table Fortune."""

UPDATE, CACHED = "update", "cached-query"

WRITTEN_SHARE_MIN = 0.95
"""Rows written / rows of responses: a row that one request draws twice, or that keeps its number by chance, may be written once less."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Rows of its tables that a database read and wrote."""

    read: int
    """By their key."""
    scanned: int
    """In scans of tables: a program that fills a cache reads a table whole."""
    written: int

    def since(self, before: Counts) -> Counts:
        """What was added after ``before``."""
        return Counts(self.read - before.read, self.scanned - before.scanned, self.written - before.written)


def requires_rows(workload: Workload) -> bool:
    """Whether the database must read rows for each response; the test of a cache requires none."""
    return workload.asks_database and workload.asked != CACHED


def counting_problem(workload: Workload, responses: int, counted: DatabaseRun) -> Reason | None:
    """Return a reason if the database did less work than that many correct responses require; ``None`` if not, or if it did not count."""
    read, written = counted.rows_read, counted.rows_written
    if read is not None and workload.expect.rule is Rule.FORTUNES:
        read += counted.rows_scanned or 0  # a page requires the whole table
    rows = rows_of(workload)
    if not requires_rows(workload) or not responses:
        return None
    if read is not None and read < rows * responses:
        return Reason.of(ReasonKind.DATABASE_NOT_READ, rows=read, responses=responses, required_rows=rows * responses)
    if workload.asked == UPDATE and written is not None and written < WRITTEN_SHARE_MIN * rows * responses:
        return Reason.of(ReasonKind.DATABASE_NOT_WRITTEN, rows=written, responses=responses, required_rows=rows * responses)
    return None


def rows_of(workload: Workload) -> int:
    """Rows that each response requires the database to read."""
    if workload.expect.rule is Rule.FORTUNES:
        return FORTUNES
    return workload.expect.rows or 1
