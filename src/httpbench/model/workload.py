"""Workloads: requests and their correct responses."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from httpbench.model.frozen import Frozen, Name, WorkloadName
from httpbench.model.target import Kind, Target


class Request(Frozen):
    method: str = Field(default="GET", pattern=r"^[A-Z]+$")
    """HTTP method."""
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    """Path and query of the request, with spaces and non-ASCII characters percent-encoded."""
    headers: dict[str, str] = {}
    """Header fields by name, in addition to those that the load generator always sends."""
    body: str = ""
    """Body of the request. Empty: none."""


class Rule(StrEnum):
    """A published rule that determines which bodies are correct, for tests with more than one correct body."""

    TEXT_MESSAGE = "text-message"  # the message as plain text
    JSON_MESSAGE = "json-message"  # an object with only the key `message`
    WORLD = "world"  # an object with one row of the table World
    WORLDS = "worlds"  # an array of rows of the table World
    FORTUNES = "fortunes"  # an HTML page with all rows of the table Fortune and one additional row
    ITEMS = "items"  # an object with items, the total of each item, and the number of items

    @property
    def has_one_body(self) -> bool:
        """Whether a server always sends the same body under this rule."""
        return self in (Rule.TEXT_MESSAGE, Rule.JSON_MESSAGE, Rule.FORTUNES, Rule.ITEMS)


ANY_SUCCESS = "2xx"
_STATUS_SCHEMA = {"anyOf": [{"type": "integer", "minimum": 100, "maximum": 599}, {"const": ANY_SUCCESS}, {"type": "null"}]}


def _status(value: object) -> object:
    return None if value == ANY_SUCCESS else value


class Expectation(Frozen):
    """The correct response to a request."""

    status: Annotated[Annotated[int, Field(ge=100, le=599)] | None, BeforeValidator(_status), WithJsonSchema(_STATUS_SCHEMA)] = 200
    """Correct status. ``"2xx"`` in TOML, or null: any status from 200 to 299, if it is the same in every response."""
    body: str | None = None
    """Exact body. Null: any body that meets the other conditions."""
    body_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the exact body, for bodies that are too long to write out. Null: not checked."""
    body_bytes: int | None = Field(default=None, ge=0)
    """Size of the body, in bytes. Null: not checked."""
    content_type: str | None = None
    """Media type, without its parameters. Null: not checked."""
    headers: tuple[str, ...] = ()
    """Names of header fields that must be present."""
    rule: Rule | None = None
    """Rule for the body. Null: none."""
    rows: int | None = Field(default=None, ge=1, le=500)
    """Number of rows in the body, for the rules ``worlds`` and ``items``. If the workload has a ``test``, the number is appended
    to the path that the target declares. Null: not checked."""
    factor: int = Field(default=1, ge=1)
    """Factor in the total of each item (price × quantity × factor), for the rule ``items``."""


EVENT_STREAM = Expectation(status=200, content_type="text/event-stream")
"""The correct beginning of an event stream."""


class ClientWork(Frozen):
    """The work of a client: sequential requests to the reference server."""

    requests: int = Field(ge=1, le=10_000_000)
    """Number of requests, sent one after the other."""
    body_bytes: int = Field(default=12, ge=0, le=1 << 30)
    """Size of each response body, in bytes."""
    reconnect: bool = False
    """Whether the server closes the connection after each response, so that each request needs a new connection. Otherwise, all requests
    use the same connection."""


class MixPart(Frozen):
    """A workload in a mix."""

    name: Name
    """Name of the workload."""
    weight: int = Field(default=1, ge=1, le=1000)
    """Relative number of requests: a workload with weight 3 gets three times as many requests as a workload with weight 1."""
    request: Request = Request()
    """The request."""
    expect: Expectation = Expectation()
    """The correct response."""
    test: Name | None = None
    """Name of the test, under which targets declare the request path. Null: the workload's name."""

    @classmethod
    def of(cls, weight: int, workload: Workload) -> MixPart:
        return cls(name=workload.name, weight=weight, request=workload.request, expect=workload.expect, test=workload.test)

    @property
    def workload(self) -> Workload:
        return Workload(
            name=self.name, description=f"A part of a mix: {self.name}", request=self.request, expect=self.expect, test=self.test
        )


class ListedRequest(Frozen):
    """A request in a list."""

    weight: int = Field(default=1, ge=1, le=1000)
    """Relative number of requests."""
    request: Request
    """The request."""
    expect: Expectation | None = None
    """The correct response. Null: ``expect`` of the workload."""


class RequestList(Frozen):
    """Requests that take turns, such as one for each row of a file. The results don't distinguish between them."""

    source: str
    """Name of the file that the requests come from."""
    count: int = Field(ge=1)
    """Number of different requests."""
    sha256: str = Field(pattern=r"^[0-9a-f]{64}$")
    """SHA-256 of the requests and their weights."""
    template: Request | None = None
    """Request whose placeholders, such as ``{id}``, are filled in from the columns of the file. Null: the file contains whole requests."""
    requests: tuple[ListedRequest, ...] = ()
    """The requests. Empty in stored runs."""


ASKS_DATABASE = ("db", "query", "update", "fortune", "cached-query")
"""Tests whose responses come from a database."""


class Workload(Frozen):
    """A request and its correct response."""

    name: WorkloadName
    """Name of the workload."""
    description: str
    """Purpose of the workload, as a sentence."""
    request: Request = Request()
    """The request."""
    expect: Expectation = Expectation()
    """The correct response."""
    published: Expectation | None = None
    """Correct response of a target from another project's catalog, according to that project. Null: ``expect``."""
    client: ClientWork | None = None
    """Work of a client. Null: a workload for servers or proxies."""
    backend: str | None = None
    """Id of the server behind a proxy. Null: a workload for servers or clients."""
    test: Name | None = None
    """Name of the test, under which targets declare the request path. Null: the workload's name."""
    parts: tuple[MixPart, ...] = ()
    """Workloads of a mix, whose requests alternate according to their weights. ``request`` and ``expect`` of the mix are those of its first
    part. Empty: not a mix."""
    sse: bool = False
    """Whether the response is an event stream (``text/event-stream``) that may stay open. Its events are measured."""
    listed: RequestList | None = None
    """Many requests that take turns. ``request`` is one of them or, in stored runs, their template. Null: not a list of requests."""

    @model_validator(mode="after")
    def _is_possible(self) -> Workload:
        expect = self.expect
        if self.sse and (self.client or self.backend or self.parts or self.listed):
            raise ValueError("sse requires a single request to a server")
        if self.sse and (expect.status != EVENT_STREAM.status or any((expect.body, expect.body_sha256, expect.body_bytes, expect.rule))):
            raise ValueError("sse requires status 200 and any body, because an event stream may never end")
        return self

    @property
    def has_one_request(self) -> bool:
        """Whether all requests of the workload are equal."""
        return not self.parts and self.listed is None

    @property
    def asked(self) -> str:
        """Name of the workload's test."""
        return self.test or self.name

    @property
    def asks_database(self) -> bool:
        """Whether responses come from a database."""
        if self.parts:
            return any(part.workload.asks_database for part in self.parts)
        return self.asked in ASKS_DATABASE

    def is_served_by(self, target: Target) -> bool:
        """Return whether a target declares a path for the workload, or declares no paths at all."""
        if self.parts:
            return all(part.workload.is_served_by(target) for part in self.parts)
        return not target.paths or self.asked in target.paths

    def of(self, target: Target) -> Workload:
        """Return the workload with the path that a target declares, or the workload itself if the target declares no path.

        For a target from another project's catalog, ``published`` replaces ``expect`` unless ``published`` is null.
        """
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
        """Kind of target that the workload is for."""
        return Kind.CLIENT if self.client else Kind.PROXY if self.backend else Kind.SERVER

    @property
    def each(self) -> tuple[Workload, ...]:
        """Workloads of a mix, or only the workload itself if it isn't a mix."""
        return tuple(part.workload for part in self.parts) or (self,)

    @property
    def has_unchecked_bodies(self) -> bool:
        """Whether a body must follow a rule that load generators can't check in every response."""
        return any(each.expect.rule and each.expect.body is None and each.expect.body_sha256 is None for each in self.each)
