"""The clauses about TechEmpower's World table. They are checked using only the server's responses.

Rows that a server writes in response to requests for one path must be readable through another path. This check needs no access to the
database, but detects a server that responds from a cache or writes nothing. A single response can't reveal such a server, so the check
compares rows from several responses.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from httpbench.contract.check import Clause
from httpbench.http.exchange import Connection
from httpbench.http.response import ExchangeError
from httpbench.http.rules import ROWS, lower_keys
from httpbench.http.server import Server
from httpbench.model import Expectation, Rule, Target, Workload

DB, QUERY, UPDATE = "db", "query", "update"
DRAWS = 100
"""Number of rows to read when testing whether ids are drawn at random."""
UPDATES, UPDATED_ROWS = 25, 20
"""Number of update requests, and number of rows per request. Together, the requests update 5% of the table."""
READ_ROWS = 500
"""Number of rows per request of the "query" test. This is the maximum that the test's rules allow."""
COMPARED = 10
"""Minimum number of updated rows that the check must read again. Fewer rows wouldn't be sufficient evidence."""
READS_MAX = 1000
"""Maximum number of requests for reading updated rows again. With one row per request, about one in twenty returns an updated row."""
REREAD_ROWS, REREAD_UPDATES = 1000, 100
"""Number of rows to read before and after the updates, and number of update requests. The updates cover 18% of the table. If the server
reads its rows from the database each time, about 17 rows are expected to differ between the two readings."""
PER_CONNECTION = 50
"""Number of requests per connection. Many servers close a connection after a hundred requests."""

Row = tuple[int, int]
"""Id and random number of a row."""


def world_clauses(target: Target, workload: Workload) -> tuple[Clause, ...]:
    """Return the clauses for a workload whose responses contain rows of the table."""
    if workload.expect.rule not in (Rule.WORLD, Rule.WORLDS):
        return ()
    found: list[Clause] = [("draws its rows at random", draws_at_random, ())]
    if clause := _clause_of_two_paths(target, workload):
        found.append(clause)
    return tuple(found)


def draws_at_random(server: Server) -> str | None:
    """Check that the ids of :data:`DRAWS` rows look random."""
    ids: list[int] = []
    for rows in _responses(server, DRAWS):
        ids += [row_id for row_id, _ in rows]
        if len(ids) >= DRAWS:
            break
    return drawing_problem(ids[:DRAWS])


def reads_anew(update: Server, read: Server) -> str | None:
    """Read rows, update part of the table, and read again until a row has changed. The check ignores the rows that updates return."""
    before = dict(_rows_of(read, REREAD_ROWS))
    updated = sum(len(rows) for rows in _responses(update, REREAD_UPDATES))
    return rereading_problem(before, _rows_of(read, REREAD_ROWS), updated)


def returns_what_was_written(update: Server, read: Server) -> str | None:
    """Update rows, then read rows until enough updated ones have come back, and compare these with the written ones."""
    written = written_rows(_responses(update, UPDATES))
    back: list[Row] = []
    for rows in _responses(read, READS_MAX):
        back += [row for row in rows if row[0] in written]
        if len(back) >= COMPARED:
            return reading_problem(back, written)
    return reading_problem(back, written) or f"only {len(back)} of {len(written)} updated rows came back in {READS_MAX:,} requests"


def _clause_of_two_paths(target: Target, workload: Workload) -> Clause | None:
    """Return the clause for a target that declares both a path that writes and a path that reads, else ``None``."""
    paths = target.paths
    reading = workload.asked if workload.asked != UPDATE else QUERY if QUERY in paths else DB
    if UPDATE not in paths or reading not in paths or reading not in (DB, QUERY):
        return None
    update = _asking(workload, f"{paths[UPDATE]}{UPDATED_ROWS}", UPDATED_ROWS)
    read = _asking(workload, paths[DB], None) if reading == DB else _asking(workload, f"{paths[QUERY]}{READ_ROWS}", READ_ROWS)
    name, check = ("returns rows as written", returns_what_was_written) if workload.asked == UPDATE else ("reads its rows anew", reads_anew)
    return name, lambda server: check(replace(server, workload=update), replace(server, workload=read)), ()


def _asking(workload: Workload, path: str, rows: int | None) -> Workload:
    """Return a workload that requests this path. ``rows`` is the length of the array in the response (``None``: a single row)."""
    rule = Rule.WORLD if rows is None else Rule.WORLDS
    request = workload.request.model_copy(update={"path": path})
    return workload.model_copy(update={"request": request, "expect": Expectation(rule=rule, rows=rows)})


def _responses(server: Server, count: int) -> Iterator[list[Row]]:
    """Yield the rows of ``count`` consecutive responses. Raises :class:`ExchangeError` if a response isn't correct."""
    for first in range(0, count, PER_CONNECTION):
        with server.connect() as connection:
            for _ in range(min(PER_CONNECTION, count - first)):
                yield _rows(server, connection)


def _rows_of(server: Server, count: int) -> Iterator[Row]:
    """Yield ``count`` rows, or slightly more, from as many responses as necessary."""
    for rows in _responses(server, count):
        yield from rows
        count -= len(rows)
        if count <= 0:
            return


def _rows(server: Server, connection: Connection) -> list[Row]:
    response = server.ask(connection)
    if problem := server.problem(response):
        raise ExchangeError(f"{server.workload.request.path}: {problem}")
    return rows_in(response.body)


def rows_in(body: str | bytes) -> list[Row]:
    """Return the id and the random number of each row in a correct body, in order."""
    value = json.loads(body)
    rows = [lower_keys(each) for each in (value if isinstance(value, list) else [value])]
    return [(row["id"], row["randomnumber"]) for row in rows]


def drawing_problem(ids: Sequence[int]) -> str | None:
    """Return a problem if these ids, in this order, can't have been drawn at random from the whole table."""
    different = len(set(ids))
    if len(ids) > 1 and different == 1:
        return f"{len(ids)} rows have the same id, {ids[0]:,}"
    if len(ids) - different > _repeats_max(len(ids)):
        return f"only {different} different ids in {len(ids)} rows: the ids are not drawn from all {ROWS:,}"
    steps = {after - before for before, after in pairwise(ids)}
    if len(ids) > 2 and len(steps) == 1:
        return f"ids follow each other in steps of {steps.pop()}: they are not random"
    return None


def written_rows(responses: Iterable[Sequence[Row]]) -> dict[int, int]:
    """Return the random number that each updated row must have after these consecutive updates, by row id.

    If a response contains a row twice with different numbers, the row may have either number and is left out.
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
    """Return a problem if rows differ from those in ``table``. Rows that aren't in ``table`` are not compared."""
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
    """Return the maximum number of repeated ids in this number of draws. A server that draws ids at random practically never exceeds it.

    The maximum is the expected number of repeats, plus six standard deviations, plus six.
    """
    mean = draws * (draws - 1) / 2 / ROWS
    return math.ceil(mean + 6 * math.sqrt(mean)) + 6
