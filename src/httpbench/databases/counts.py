"""The counters of a database, which prove that a target queried the database for its responses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.model import DatabaseRun, Reason, ReasonKind, Workload

FORTUNES = 12
"""Number of rows in the table Fortune."""

WORLD, FORTUNE = "world", "fortune"
"""Names of the tables, in lower case. The test ``fortune`` has the name of its table."""

UPDATE, CACHED = "update", "cached-query"

WRITTEN_SHARE_MIN = 0.95
"""Minimum ratio of rows written to rows in responses.

The minimum is below 1, because a request may update a row twice, or the new random value may equal the old one.
"""

MIX_SHARE_MIN = 0.95
"""Minimum ratio of a database's work to the work that the responses to a mix require on average.

The minimum is below 1, because the responses of a window aren't distributed exactly according to the weights.
"""


@dataclass(frozen=True, slots=True)
class Counts:
    """The numbers of rows that a database read and wrote, and of statements that it executed."""

    read: int
    """Rows read by key."""
    scanned: int
    """Rows read in table scans, for example by a program that fills a cache."""
    written: int
    selects: int
    """``SELECT`` statements."""

    def since(self, before: Counts) -> Counts:
        """Return how much each count has grown since ``before``."""
        fields = (self.read - before.read, self.scanned - before.scanned, self.written - before.written, self.selects - before.selects)
        return Counts(*fields)


def tables_of(workload: Workload) -> tuple[str, ...]:
    """Return the names of the tables that a workload's responses come from, in lower case."""
    return tuple(sorted({FORTUNE if each.asked == FORTUNE else WORLD for each in workload.each}))


def requires_rows(workload: Workload) -> bool:
    """Return whether the database must read rows for responses. The cached-query test requires none."""
    return any(rows_of(each) for each in workload.each)


def counting_problem(workload: Workload, responses: int, counted: DatabaseRun) -> Reason | None:
    """Return a reason if the database did less work than the responses require, or ``None`` if it did enough or reported no counts.

    ``counted`` must count the tables of ``tables_of(workload)``, at least from the first to the last of the responses.
    """
    if (problem := _missing(counted.selects, workload, responses, _selects_of)) is not None:
        selects, required = problem
        return Reason.of(ReasonKind.DATABASE_NOT_ASKED, selects=selects, responses=responses, required_selects=required)
    read = counted.rows_read
    if read is not None and FORTUNE in tables_of(workload):
        read += counted.rows_scanned or 0  # each page contains the whole table, so its rows are scanned
    if (problem := _missing(read, workload, responses, rows_of)) is not None:
        rows, required = problem
        return Reason.of(ReasonKind.DATABASE_NOT_READ, rows=rows, responses=responses, required_rows=required)
    if (problem := _missing(counted.rows_written, workload, responses, _updates_of, WRITTEN_SHARE_MIN)) is not None:
        rows, required = problem
        return Reason.of(ReasonKind.DATABASE_NOT_WRITTEN, rows=rows, responses=responses, required_rows=required)
    return None


def _missing(
    count: int | None, workload: Workload, responses: int, required_by: Callable[[Workload], int], share_min: float = 1
) -> tuple[int, int] | None:
    """Return the count and the required count if the count is less than ``share_min`` of the required one, else ``None``."""
    if workload.parts:
        share_min *= MIX_SHARE_MIN
        weights = sum(part.weight for part in workload.parts)
        mean = sum(part.weight * required_by(part.workload) for part in workload.parts) / weights
    else:
        mean = required_by(workload)
    required = round(mean * responses)
    return None if count is None or count >= share_min * required else (count, required)


def rows_of(workload: Workload) -> int:
    """Return how many rows the database must read for each response. ``workload`` must not be a mix."""
    if not workload.asks_database or workload.asked == CACHED:
        return 0
    return FORTUNES if workload.asked == FORTUNE else workload.expect.rows or 1


def _selects_of(workload: Workload) -> int:
    return 1 if workload.asked == FORTUNE else rows_of(workload)


def _updates_of(workload: Workload) -> int:
    return rows_of(workload) if workload.asked == UPDATE else 0
