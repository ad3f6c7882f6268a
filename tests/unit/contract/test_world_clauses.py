"""Tests of the clauses for TechEmpower's table World, with servers that follow the rules and one server for each way to cheat."""

from __future__ import annotations

import http.server
import json
import random
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from urllib.parse import parse_qs, urlsplit

import pytest

from httpbench import catalog, contract
from httpbench.contract.world_clauses import world_clauses
from httpbench.http.rules import ROWS
from httpbench.http.server import Server
from httpbench.model import Entry, Workload
from tests.factories import make_target

PATHS = {"db": "/db", "query": "/queries?queries=", "update": "/updates?queries=", "cached-query": "/cached?count="}
TARGET = make_target(paths=PATHS)
WORKLOADS = catalog.load().workloads


@dataclass
class World:
    """A server's table, and its response for each path. Each subclass cheats in one way."""

    draw: random.Random = field(default_factory=lambda: random.Random(1))

    def __post_init__(self) -> None:
        self.table = {number: self.draw.randint(1, ROWS) for number in range(1, ROWS + 1)}
        self.cache = dict(self.table)

    def id(self) -> int:
        return self.draw.randint(1, ROWS)

    def read(self, number: int) -> int:
        return self.table[number]

    def write(self, number: int, value: int) -> None:
        self.table[number] = value

    def rows(self, path: str, count: int) -> list[dict[str, int]]:
        numbers = [self.id() for _ in range(count)]
        if path == "/cached":
            return [{"id": number, "randomNumber": self.cache[number]} for number in numbers]
        if path == "/updates":
            for number in numbers:
                self.read(number)
            new = {number: self.draw.randint(1, ROWS) for number in numbers}
            for number, value in new.items():
                self.write(number, value)
            return [{"id": number, "randomNumber": new[number]} for number in numbers]
        return [{"id": number, "randomNumber": self.read(number)} for number in numbers]


class CachesRows(World):
    def read(self, number: int) -> int:
        return self.cache[number]


class WritesNothing(World):
    def write(self, number: int, value: int) -> None:
        pass


class ReturnsOldNumbers(World):
    def rows(self, path: str, count: int) -> list[dict[str, int]]:
        before = dict(self.table)
        rows = super().rows(path, count)
        return [{"id": row["id"], "randomNumber": before[row["id"]]} for row in rows] if path == "/updates" else rows


class SwapsColumns(World):
    def write(self, number: int, value: int) -> None:
        self.table[value] = number


class SameId(World):
    def id(self) -> int:
        return 4711


class FewIds(World):
    def id(self) -> int:
        return self.draw.randint(1, 20)


class CountsUp(World):
    def __post_init__(self) -> None:
        super().__post_init__()
        self.last = 0

    def id(self) -> int:
        self.last = self.last % ROWS + 1
        return self.last


@contextmanager
def serving(world: World) -> Iterator[int]:
    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # head and body in one segment

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            ((count,),) = [*parse_qs(url.query).values()] or [["0"]]
            rows = world.rows(url.path, int(count) or 1)
            body = json.dumps(rows if int(count) else rows[0]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def checked(world: World, workload: Workload) -> dict[str, str | None]:
    """Return the outcome of each clause for a server under a workload."""
    with serving(world) as port:
        server = Server("127.0.0.1", port, workload.of(TARGET))
        return {name: check(server) for name, check, _ in world_clauses(TARGET, workload.of(TARGET))}


@pytest.mark.parametrize("name", ["db", "query-20", "update-20", "cached-query-100"])
def test_an_honest_server_keeps_every_clause(name: str) -> None:
    found = checked(World(), WORKLOADS[name])
    assert len(found) == (1 if name.startswith("cached") else 2)
    assert set(found.values()) == {None}


@pytest.mark.parametrize(
    ("cheat", "name", "clause", "problem"),
    [
        (CachesRows, "db", "reads its rows anew", "none of"),
        (CachesRows, "query-20", "reads its rows anew", "are cached, or updates are not written"),
        (WritesNothing, "update-20", "returns rows as written", "rows differ from what the update returned"),
        (ReturnsOldNumbers, "update-20", "returns rows as written", "rows differ from what the update returned"),
        (SwapsColumns, "update-20", "returns rows as written", "rows differ from what the update returned"),
        (SameId, "db", "draws its rows at random", "100 rows have the same id, 4,711"),
        (FewIds, "query-20", "draws its rows at random", "the ids are not drawn from all 10,000"),
        (CountsUp, "db", "draws its rows at random", "ids follow each other in steps of 1"),
    ],
)
def test_each_cheat_is_detected(cheat: Callable[[], World], name: str, clause: str, problem: str) -> None:
    assert problem in (checked(cheat(), WORKLOADS[name])[clause] or "")


@pytest.mark.parametrize("fault", [lambda: ReturnsOldNumbers(), lambda: SwapsColumns()])
@pytest.mark.parametrize("name", ["db", "query-20"])
def test_a_fault_of_updates_does_not_break_the_clauses_on_reads(fault: Callable[[], World], name: str) -> None:
    assert set(checked(fault(), WORKLOADS[name]).values()) == {None}


def test_only_workloads_of_the_table_have_these_clauses() -> None:
    assert world_clauses(TARGET, WORKLOADS["json"]) == ()
    assert [name for name, _, _ in world_clauses(make_target(), WORKLOADS["db"])] == ["draws its rows at random"]


def test_another_projects_target_keeps_only_that_projects_rules() -> None:
    foreign = make_target(entry=Entry(catalogue="techempower", name="x", display_name="x"))
    own = [name for name, _, _ in contract.clauses_for(make_target(), WORKLOADS["plaintext"])]
    published = [name for name, _, _ in contract.clauses_for(foreign, WORKLOADS["plaintext"])]
    always = ["responds correctly", "keeps the connection open", "updates Date"]
    assert len(own) == 10
    assert published == [*always, "responds to pipelined requests in order"]
    assert [name for name, _, _ in contract.clauses_for(foreign, WORKLOADS["json"])] == always


@pytest.mark.parametrize(
    ("workload", "more"), [("httparena-baseline", []), ("httparena-pipelined", ["responds to pipelined requests in order"])]
)
def test_a_project_without_a_rule_on_dates_does_not_check_them(workload: str, more: list[str]) -> None:
    foreign = make_target(entry=Entry(catalogue="httparena", name="x", display_name="x"))
    clauses = [name for name, _, _ in contract.clauses_for(foreign, WORKLOADS[workload])]
    assert clauses == ["responds correctly", "keeps the connection open", *more]
