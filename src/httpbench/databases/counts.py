"""The counters of a database, which prove that a target queried the database for its responses."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.model import DatabaseRun, Reason, ReasonKind, Rule, Workload

FORTUNES = 12
"""Number of rows in the table Fortune."""

UPDATE, CACHED = "update", "cached-query"

WRITTEN_SHARE_MIN = 0.95
"""Minimum ratio of rows written to rows in responses.

The minimum is below 1, because a request may update a row twice, or the new random value may equal the old one.
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows that a database read and wrote."""

    read: int
    """Rows read by key."""
    scanned: int
    """Rows read in table scans, for example by a program that fills a cache."""
    written: int

    def since(self, before: Counts) -> Counts:
        """Return how much each count has grown since ``before``."""
        return Counts(self.read - before.read, self.scanned - before.scanned, self.written - before.written)


def requires_rows(workload: Workload) -> bool:
    """Return whether the database must read rows for each response. The cached-query test requires none."""
    return workload.asks_database and workload.asked != CACHED


def counting_problem(workload: Workload, responses: int, counted: DatabaseRun) -> Reason | None:
    """Return a reason if the database did less work than the responses require, or ``None`` if it did enough or reported no counts."""
    read, written = counted.rows_read, counted.rows_written
    if read is not None and workload.expect.rule is Rule.FORTUNES:
        read += counted.rows_scanned or 0  # each page contains the whole table, so its rows are scanned
    rows = rows_of(workload)
    if not requires_rows(workload) or not responses:
        return None
    if workload.asked == UPDATE and read is not None and written is not None:
        read -= _read_by_updates(written, counted.rows_scanned)
    if read is not None and read < rows * responses:
        return Reason.of(ReasonKind.DATABASE_NOT_READ, rows=read, responses=responses, required_rows=rows * responses)
    if workload.asked == UPDATE and written is not None and written < WRITTEN_SHARE_MIN * rows * responses:
        return Reason.of(ReasonKind.DATABASE_NOT_WRITTEN, rows=written, responses=responses, required_rows=rows * responses)
    return None


def _read_by_updates(written: int, scanned: int | None) -> int:
    """Return the minimum number of rows that the updates themselves read by key, or 0 if they may scan the table instead."""
    return 0 if scanned is None or scanned >= written else int(WRITTEN_SHARE_MIN * written)


def rows_of(workload: Workload) -> int:
    """Return how many rows the database must read for each response."""
    if workload.expect.rule is Rule.FORTUNES:
        return FORTUNES
    return workload.expect.rows or 1
