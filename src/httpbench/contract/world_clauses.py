"""The clauses on TechEmpower's table World, checked from outside, using only the server's own responses.

Rows written through one path must come back through another. This needs no access to the database, and still finds a server that answers
from a cache or writes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from httpbench.contract.check import Clause
from httpbench.contract.worlds import DRAWS, Row, drawing_problem, reading_problem, rereading_problem, written_rows
from httpbench.http.exchange import Connection, ExchangeError
from httpbench.http.rules import lower_keys
from httpbench.http.server import Server
from httpbench.model import Expectation, Rule, Target, Workload

DB, QUERY, UPDATE = "db", "query", "update"
UPDATES, UPDATED_ROWS = 25, 20
"""Number of updates, and rows of each: together 5% of the table."""
READ_ROWS = 500
"""Rows per request of the test "query": the maximum under its rules."""
COMPARED = 10
"""Updated rows to read again. Fewer would prove little."""
READS_MAX = 1000
"""Maximum number of requests to read them. With one row per request, one request in twenty hits an updated row."""
REREAD_ROWS, REREAD_UPDATES = 1000, 100
"""Rows to read before and after the updates, which cover 18% of the table. If rows are read anew, 17 are expected to differ."""
PER_CONNECTION = 50
"""Requests per connection, because many servers close a connection after a hundred."""


def world_clauses(target: Target, workload: Workload) -> tuple[Clause, ...]:
    """Return the clauses for a workload with rows of the table as its responses."""
    if workload.expect.rule not in (Rule.WORLD, Rule.WORLDS):
        return ()
    found: list[Clause] = [("draws its rows at random", draws_at_random, ())]
    if clause := _clause_of_two_paths(target, workload):
        found.append(clause)
    return tuple(found)


def draws_at_random(server: Server) -> str | None:
    """Check :data:`DRAWS` rows."""
    ids: list[int] = []
    for rows in _responses(server, DRAWS):
        ids += [row_id for row_id, _ in rows]
        if len(ids) >= DRAWS:
            break
    return drawing_problem(ids[:DRAWS])


def reads_anew(update: Server, read: Server) -> str | None:
    """Read rows, update part of the table, and read until one row has changed. The rows returned by the updates aren't trusted."""
    before = dict(_rows_of(read, REREAD_ROWS))
    updated = sum(len(rows) for rows in _responses(update, REREAD_UPDATES))
    return rereading_problem(before, _rows_of(read, REREAD_ROWS), updated)


def returns_what_was_written(update: Server, read: Server) -> str | None:
    """Update rows, then read until some of them have come back."""
    written = written_rows(_responses(update, UPDATES))
    back: list[Row] = []
    for rows in _responses(read, READS_MAX):
        back += [row for row in rows if row[0] in written]
        if len(back) >= COMPARED:
            return reading_problem(back, written)
    return reading_problem(back, written) or f"only {len(back)} of {len(written)} updated rows came back in {READS_MAX:,} requests"


def _clause_of_two_paths(target: Target, workload: Workload) -> Clause | None:
    """Return the clause for a target that declares a path that writes and one that reads, or ``None`` for others."""
    paths = target.paths
    reading = workload.asked if workload.asked != UPDATE else QUERY if QUERY in paths else DB
    if UPDATE not in paths or reading not in paths or reading not in (DB, QUERY):
        return None
    update = _asking(workload, f"{paths[UPDATE]}{UPDATED_ROWS}", UPDATED_ROWS)
    read = _asking(workload, paths[DB], None) if reading == DB else _asking(workload, f"{paths[QUERY]}{READ_ROWS}", READ_ROWS)
    name, check = ("returns rows as written", returns_what_was_written) if workload.asked == UPDATE else ("reads its rows anew", reads_anew)
    return name, lambda server: check(replace(server, workload=update), replace(server, workload=read)), ()


def _asking(workload: Workload, path: str, rows: int | None) -> Workload:
    """Return a workload with this path. ``rows`` is the length of its array (``None``: a single row)."""
    rule = Rule.WORLD if rows is None else Rule.WORLDS
    request = workload.request.model_copy(update={"path": path})
    return workload.model_copy(update={"request": request, "expect": Expectation(rule=rule, rows=rows)})


def _responses(server: Server, count: int) -> Iterator[list[Row]]:
    """Yield the rows of ``count`` consecutive responses. Raises :class:`ExchangeError` if one isn't correct."""
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
    return _rows_in(response.body)


def row_ids(body: str) -> list[int]:
    """Return the ids of the rows in a correct body, in order."""
    return [row_id for row_id, _ in _rows_in(body)]


def _rows_in(body: str | bytes) -> list[Row]:
    value = json.loads(body)
    rows = [lower_keys(each) for each in (value if isinstance(value, list) else [value])]
    return [(row["id"], row["randomnumber"]) for row in rows]
