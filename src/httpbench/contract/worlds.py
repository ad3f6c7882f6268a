"""Rows of TechEmpower's table World over several responses: whether they are drawn at random, read from the database, and written to it.

A single response can't show any of this. Each function returns a problem or ``None``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise

ROWS = 10_000
"""Number of rows of the table. Ids start at 1."""
DRAWS = 100
"""Number of rows to test whether ids are drawn at random."""

Row = tuple[int, int]
"""Id and random number."""


def drawing_problem(ids: Sequence[int]) -> str | None:
    """Return a problem if these ids, in this order, can't be random ids from the whole table."""
    different = len(set(ids))
    if len(ids) > 1 and different == 1:
        return f"{len(ids)} rows have the same id, {ids[0]:,}"
    if len(ids) - different > _repeats_max(len(ids)):
        return f"only {different} different ids in {len(ids)} rows: they are not drawn from {ROWS:,}"
    steps = {after - before for before, after in pairwise(ids)}
    if len(ids) > 2 and len(steps) == 1:
        return f"ids follow each other in steps of {steps.pop()}: they are not random"
    return None


def written_rows(responses: Iterable[Sequence[Row]]) -> dict[int, int]:
    """Return the expected rows of the table, by id, after these consecutive updates.

    A row that one response contains twice, with two numbers, may have either number and is left out.
    """
    table: dict[int, int] = {}
    for rows in responses:
        numbers = Counter(row_id for row_id, _ in set(rows))
        for row_id, number in rows:
            if numbers[row_id] == 1:
                table[row_id] = number
            else:
                table.pop(row_id, None)
    return table


def reading_problem(read: Iterable[Row], table: Mapping[int, int]) -> str | None:
    """Return a problem if rows differ from those in ``table``. Rows that aren't in it are unknown and not compared."""
    known = [(row_id, number) for row_id, number in read if row_id in table]
    stale = [(row_id, number) for row_id, number in known if number != table[row_id]]
    if not stale:
        return None
    row_id, number = stale[0]
    return (
        f"{len(stale):,} of {len(known):,} rows differ from what the update returned: it wrote other values or none, or reads are cached "
        f"(row {row_id:,} is {number:,} instead of {table[row_id]:,})"
    )


def rereading_problem(before: Mapping[int, int], after: Iterable[Row], updated: int) -> str | None:
    """Return a problem if no row has changed since ``before``, although ``updated`` rows were updated.

    Reading stops at the first change.
    """
    known = 0
    for row_id, number in after:
        if row_id in before:
            if number != before[row_id]:
                return None
            known += 1
    return (
        f"none of {known:,} rows that were read twice changed while {updated:,} were updated: they are cached, or updates are not written"
    )


def _repeats_max(draws: int) -> int:
    """Return a limit on coincidences among random draws that no honest server exceeds in practice.

    It is the mean, plus six deviations, plus six.
    """
    mean = draws * (draws - 1) / 2 / ROWS
    return math.ceil(mean + 6 * math.sqrt(mean)) + 6
