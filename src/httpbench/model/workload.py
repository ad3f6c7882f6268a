"""What is requested, and which responses are right."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema

from httpbench.model.frozen import Frozen, Name, WorkloadName
from httpbench.model.target import Kind, Target


class Request(Frozen):
    method: str = Field(default="GET", pattern=r"^[A-Z]+$")
    """HTTP method."""
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    """Path and query as they stand in the request; spaces and letters beyond ASCII are percent-encoded."""
    headers: dict[str, str] = {}
    """Header fields by name, in addition to those that the load generator sends anyway."""
    body: str = ""
    """Body of the request; empty: none."""


class Rule(StrEnum):
    """A published rule of which body is correct, where more than one is."""

    TEXT_MESSAGE = "text-message"  # the message alone
    JSON_MESSAGE = "json-message"  # an object with a message
    WORLD = "world"  # an object: one row of the table World
    WORLDS = "worlds"  # an array of them
    FORTUNES = "fortunes"  # a page of HTML with all rows of the table Fortune, and one more
    ITEMS = "items"  # an object: items, each with its total, and their count

    @property
    def has_one_body(self) -> bool:
        """Whether a server sends the same body each time."""
        return self in (Rule.TEXT_MESSAGE, Rule.JSON_MESSAGE, Rule.FORTUNES, Rule.ITEMS)


ANY_SUCCESS = "2xx"
_STATUS_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 100, "maximum": 599}, {"const": ANY_SUCCESS}, {"type": "null"}]}


def _status(value: object) -> object:
    return None if value == ANY_SUCCESS else value


class Expectation(Frozen):
    """What a correct response is."""

    status: Annotated[Annotated[int, Field(ge=100, le=599)] | None, BeforeValidator(_status), WithJsonSchema(_STATUS_SCHEMA)] = 200
    """Correct status. ``"2xx"`` in TOML, or null: any from 200 to 299, but the same one throughout."""
    body: str | None = None
    """Exact body. Null: any, unless ``body_sha256`` is given."""
    body_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the exact body, for bodies that are too long to be written out. Null: not checked."""
    body_bytes: int | None = Field(default=None, ge=0)
    """Size of the body, in bytes. Null: not checked."""
    content_type: str | None = None
    """Media type, without its parameters. Null: not checked."""
    headers: tuple[str, ...] = ()
    """Names of header fields that must be present."""
    rule: Rule | None = None
    """Rule that the body keeps. Null: none."""
    rows: int | None = Field(default=None, ge=1, le=500)
    """Number of rows in the body, for the rules ``worlds`` and ``items``; with ``test``, it ends the path that a target declares. Null:
    not checked."""
    factor: int = Field(default=1, ge=1)
    """What the rule ``items`` multiplies price and quantity by, for each total."""


class ClientWork(Frozen):
    """What a client does: requests, one after the other, to the reference server."""

    requests: int = Field(ge=1, le=10_000_000)
    """Number of requests, sent one after the other."""
    body_bytes: int = Field(default=12, ge=0, le=1 << 30)
    """Size of the body of each response, in bytes."""
    reconnect: bool = False
    """Whether the server closes the connection after each response, so that each request requires a new one. Otherwise all use one."""


class MixPart(Frozen):
    """One of the workloads of a mix."""

    name: Name
    """Name of the workload."""
    weight: int = Field(default=1, ge=1, le=1000)
    """Requests in each turn of the mix."""
    request: Request = Request()
    """The request."""
    expect: Expectation = Expectation()
    """The correct response."""
    test: Name | None = None
    """Name under which targets declare their path for it. Null: the workload's name."""

    @classmethod
    def of(cls, weight: int, workload: Workload) -> MixPart:
        return cls(name=workload.name, weight=weight, request=workload.request, expect=workload.expect, test=workload.test)

    @property
    def workload(self) -> Workload:
        return Workload(
            name=self.name, description=f"A part of a mix: {self.name}", request=self.request, expect=self.expect, test=self.test
        )


ASKS_DATABASE = ("db", "query", "update", "fortune", "cached-query")
"""Tests whose responses come from a database."""


class Workload(Frozen):
    """What is requested, and what a correct response is."""

    name: WorkloadName
    """Name of the workload."""
    description: str
    """What the workload shows, in a sentence."""
    request: Request = Request()
    """The request."""
    expect: Expectation = Expectation()
    """The correct response."""
    published: Expectation | None = None
    """The correct response of a target from another project's catalogue, by the rules of that project. Null: ``expect``."""
    client: ClientWork | None = None
    """What a client does. Null: a workload for servers or proxies."""
    backend: str | None = None
    """Id of the server behind a proxy. Null: a workload for servers or clients."""
    test: Name | None = None
    """Name under which targets declare their path for it. Null: the workload's name."""
    parts: tuple[MixPart, ...] = ()
    """Of a mix: the workloads whose requests take turns. Request and response of the mix itself are those of the first. Empty: no mix."""

    @property
    def asked(self) -> str:
        """Name of the test that it asks for."""
        return self.test or self.name

    @property
    def asks_database(self) -> bool:
        """Whether its responses come from a database."""
        if self.parts:
            return any(part.workload.asks_database for part in self.parts)
        return self.asked in ASKS_DATABASE

    def is_served_by(self, target: Target) -> bool:
        """Whether a target declares a path for it, or declares none at all."""
        if self.parts:
            return all(part.workload.is_served_by(target) for part in self.parts)
        return not target.paths or self.asked in target.paths

    def of(self, target: Target) -> Workload:
        """The workload with the path that a target declares for it."""
        if self.parts:
            parts = tuple(MixPart.of(part.weight, part.workload.of(target)) for part in self.parts)
            return self.model_copy(update={"parts": parts, "request": parts[0].request})
        path = target.paths.get(self.asked)
        if path is None:
            return self
        rows = "" if self.expect.rows is None or self.test is None else str(self.expect.rows)
        expect = self.published if target.entry is not None and self.published is not None else self.expect
        return self.model_copy(update={"request": self.request.model_copy(update={"path": f"{path}{rows}"}), "expect": expect})

    @property
    def kind(self) -> Kind:
        """The kind of targets that it is for."""
        return Kind.CLIENT if self.client else Kind.PROXY if self.backend else Kind.SERVER

    @property
    def each(self) -> tuple[Workload, ...]:
        """The workloads of a mix; otherwise itself alone."""
        return tuple(part.workload for part in self.parts) or (self,)

    @property
    def has_unchecked_bodies(self) -> bool:
        """Whether a rule applies to bodies that a load generator cannot check one by one."""
        return any(each.expect.rule and each.expect.body is None and each.expect.body_sha256 is None for each in self.each)
