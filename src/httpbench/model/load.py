"""What is requested, and how: workloads, loads, suites, and the plan of trials."""

from __future__ import annotations

import math
from collections.abc import Collection
from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from httpbench.model.container import CPUS, MEMORY_BYTES, NetworkMode, Place, size_bytes
from httpbench.model.frozen import NAME_PATTERN, Frozen, Id, Name, WorkloadName
from httpbench.model.target import Kind, Scaling, Target


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


class Level(Frozen):
    """A stretch of a load at one rate."""

    rate_rps: float
    """Offered rate, in requests/s."""
    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Length, in seconds."""


STEADY_S_MIN = 1.5
"""Steady throughput cannot be detected sooner: it takes fourteen windows of 0.1 s."""


class Load(Frozen):
    """How requests are made: in a closed loop, or with ``rate_rps`` in an open loop.

    A client makes its own load, as the workload says; ``duration_s`` is then the longest time that its trial may take.
    """

    connections: int = Field(default=64, ge=1, le=1_000_000)
    """Connections, over all threads of the load generator."""
    threads: int | None = Field(default=None, ge=1, le=1024)
    """Threads of the load generator. Null: one for each of its cores."""
    pipeline: int = Field(default=1, ge=1, le=1024)
    """Requests in flight per connection."""
    keepalive: bool = True
    """Whether connections are kept alive; otherwise each request has a new one."""
    duration_s: float = Field(default=10, gt=0, le=86_400)
    """Measured duration, in seconds. Of a client: the longest time that its trial may take."""
    warmup_s: float = Field(default=2, ge=0, le=3600)
    """Warm-up in seconds, on the measured connections if the load generator can do so."""
    warmup_max_s: float | None = Field(default=None, gt=0, le=3600)
    """Longest warm-up until throughput is steady, in seconds, ``warmup_s`` included. Null: only ``warmup_s``."""
    timeout_s: float = Field(default=2, gt=0, le=3600)
    """Request timeout, in seconds."""
    rate_rps: float | None = Field(default=None, gt=0)
    """Open loop at this rate, in requests/s. With ``rate_from_rps``: the highest rate, held to the end. Null: closed loop."""
    rate_from_rps: float | None = Field(default=None, gt=0)
    """First rate of a rising rate, in requests/s. Null: the rate is constant."""
    rate_step_rps: float | None = Field(default=None, gt=0)
    """Increase of a rising rate at each step, in requests/s. Null: the rate is constant."""
    step_s: float | None = Field(default=None, ge=0.1)
    """Duration of each step of a rising rate, in seconds. Null: the rate is constant."""
    requests_per_connection: int | None = Field(default=None, ge=1)
    """Requests per connection before reconnecting. Null: unlimited."""

    @model_validator(mode="after")
    def _can_become_steady(self) -> Load:
        if self.warmup_max_s is not None and self.warmup_max_s < self.warmup_s + STEADY_S_MIN:
            raise ValueError(
                f"warmup_max_s must be at least {STEADY_S_MIN:g} s more than warmup_s: a steady state takes that long to detect"
            )
        return self

    @model_validator(mode="after")
    def _rises(self) -> Load:
        parts = (self.rate_from_rps, self.rate_step_rps, self.step_s)
        if all(part is None for part in parts):
            return self
        if self.rate_rps is None or None in parts:
            raise ValueError("a rising rate requires all of rate_from_rps, rate_rps, rate_step_rps and step_s")
        if self.rate_from_rps and self.rate_from_rps >= self.rate_rps:
            raise ValueError("rate_from_rps must be below rate_rps")
        if len(self.levels) < self.steps:
            raise ValueError(f"{self.duration_s:g} s are too short for {self.steps} steps of {self.step_s:g} s each")
        return self

    @property
    def steps(self) -> int:
        """How many rates there are; 0 in a closed loop."""
        if self.rate_rps is None:
            return 0
        if self.rate_from_rps is None or self.rate_step_rps is None:
            return 1
        return math.ceil((self.rate_rps - self.rate_from_rps) / self.rate_step_rps - 1e-9) + 1

    @property
    def levels(self) -> tuple[Level, ...]:
        """The rates in their order, the last held to the end; none in a closed loop. Fewer than ``steps`` where time is too short."""
        if self.rate_rps is None:
            return ()
        first, rise, each_s = self.rate_from_rps or self.rate_rps, self.rate_step_rps or 0.0, self.step_s or self.duration_s
        last = self.steps - 1
        return tuple(
            Level(
                rate_rps=self.rate_rps if at == last else first + at * rise,
                start_s=at * each_s,
                duration_s=self.duration_s - at * each_s if at == last else each_s,
            )
            for at in range(self.steps)
            if at * each_s <= self.duration_s - each_s + 1e-9
        )

    @property
    def offered(self) -> float | None:
        """Requests that are due within the measurement; ``None`` in a closed loop."""
        return sum(level.rate_rps * level.duration_s for level in self.levels) if self.levels else None


class Table(StrEnum):
    """Which columns a run's tables have; its suite chooses."""

    HTTP_SERVERS = "http-servers"  # throughput and the whole range of latencies
    APP_SERVERS = "app-servers"  # throughput against what it costs in memory and CPU
    HTTP_CLIENTS = "http-clients"  # whole processes: mean and spread, relative to the fastest, and what a request costs
    COMMANDS = "commands"  # targets from the command line: no language, no category
    TCP_PROXIES = "tcp-proxies"  # latency at the highest rate, and what each adds to the backend's own


class SuiteLoad(Frozen):
    """One load of a suite."""

    connections: tuple[int, ...] = (64,)
    """Connections; several numbers make one load each."""
    threads: int | None = None
    """Threads of the load generator. Default: one for each of its cores."""
    pipeline: int = 1
    """Requests in flight per connection."""
    keepalive: bool = True
    """Whether connections are kept alive; otherwise each request has a new one."""
    duration_s: float = 10
    """Measured duration, in seconds. With a rising rate: how long the highest rate is held."""
    warmup_s: float = 2
    """Warm-up, in seconds."""
    warmup_max_s: float | None = None
    """Longest warm-up until throughput is steady, in seconds, ``warmup_s`` included. Default: only ``warmup_s``."""
    timeout_s: float = 2
    """Request timeout, in seconds."""
    rate_rps: float | None = None
    """Open loop at this rate, in requests/s; of a rising rate the highest. Default: closed loop."""
    rate_from_rps: float | None = None
    """First rate of a rising rate, in requests/s. Default: the rate is constant."""
    rate_step_rps: float | None = None
    """Increase of a rising rate at each step, in requests/s."""
    step_s: float | None = None
    """Duration of each step of a rising rate, in seconds."""
    requests_per_connection: int | None = None
    """Requests per connection before reconnecting. Default: unlimited."""
    caps: dict[str, float] = {}
    """Highest rate offered to a target, by its id, in requests/s: for targets that are known to hold no more."""


def _one_or_several(value: object) -> object:
    return [value] if isinstance(value, str) else value


_A_NAME = {"type": "string", "pattern": NAME_PATTERN}
OneOrSeveral = Annotated[
    tuple[Name, ...],
    BeforeValidator(_one_or_several),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_A_NAME, {"type": "array", "items": _A_NAME, "minItems": 1}]}, mode="validation"),
]
"""In a file a name, or an array of names."""


class Suite(Frozen):
    """Targets × workloads × loads, and the number of rounds."""

    name: Name
    """Name of the suite."""
    description: str
    """What the suite shows, in a sentence."""
    kind: Kind = Kind.SERVER
    """Kind of its targets."""
    targets: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids of targets, or parts of ids, as on the command line."""
    workloads: Annotated[tuple[WorkloadName, ...], Field(min_length=1)]
    """Names of workloads."""
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    """Scalings to measure; a target without one of them is left out there."""
    load_generator: OneOrSeveral = ("native",)
    """Load generator, or an array of several: each puts every load on every target. For clients the timer."""
    rounds: int = Field(default=3, ge=1, le=1000)
    """Number of rounds."""
    table: Table = Table.HTTP_SERVERS
    """Columns of its tables."""
    load: Annotated[tuple[SuiteLoad, ...], Field(min_length=1)]
    """Loads; each is measured with each target and workload."""
    isolate: Annotated[tuple[Place, ...], Field(min_length=1)] = (Place.PROCESS,)
    """Where targets run; each place makes a row of its own."""
    cpus: float = Field(default=CPUS, gt=0)
    """CPU limit of each container, in cores."""
    memory: str = f"{MEMORY_BYTES >> 20}m"
    """Memory limit of each container: a number with ``k``, ``m`` or ``g``, such as ``512m``."""
    network: NetworkMode = NetworkMode.HOST
    """Network of each container."""

    @field_validator("memory")
    @classmethod
    def _is_a_size(cls, text: str) -> str:
        size_bytes(text)
        return text


class Cores(Frozen):
    """Which logical CPUs each program gets."""

    target: tuple[int, ...]
    """Logical CPUs of the target."""
    generator: tuple[int, ...]
    """Logical CPUs of the load generator."""
    harness: tuple[int, ...]
    """Logical CPUs of the harness."""
    backend: tuple[int, ...] = ()
    """Logical CPUs of the server behind a proxy; empty for servers and clients."""
    database: tuple[int, ...] = ()
    """Logical CPUs of the target's database; empty: there is none."""
    shared: bool
    """Whether the target and the load generator have a CPU in common; every table says so."""
    siblings: tuple[tuple[int, ...], ...] = ()
    """Logical CPUs that share a physical core (SMT), one group for each such core; a CPU in no group is a core of its own. A group may
    contain CPUs that no program of the run may use."""

    def physical(self, cpus: Collection[int]) -> int:
        """How many physical cores these logical CPUs are on."""
        core_of = {cpu: group[0] for group in self.siblings for cpu in group}
        return len({core_of.get(cpu, cpu) for cpu in cpus})

    def with_siblings(self, cpus: Collection[int]) -> frozenset[int]:
        """These logical CPUs, and all others on the same physical cores."""
        return frozenset(cpus).union(*(group for group in self.siblings if set(group) & set(cpus)))

    @property
    def measured(self) -> frozenset[int]:
        """Logical CPUs of the physical cores that target, load generator, backend and database run on."""
        return self.with_siblings({*self.target, *self.generator, *self.backend, *self.database})

    @property
    def backend_shared(self) -> bool:
        """The backend and the generator have a core in common; every table says so too."""
        return bool(set(self.backend) & set(self.generator))

    @property
    def database_shared(self) -> bool:
        """The database and the generator have a core in common; every table says so too."""
        return bool(set(self.database) & set(self.generator))


class TrialPlan(Frozen):
    """One trial: a target, started, warmed up, measured and stopped once under one workload and one load."""

    number: int
    """Place in the run, from 0; repeats follow all planned trials."""
    round: int
    """Round, from 0."""
    target: Id
    """Id of the target."""
    scaling: Scaling
    """How the target uses cores."""
    workload: WorkloadName
    """Name of the workload."""
    load: Load
    """How the requests are made."""
    load_generator: Name
    """Name of the load generator; for clients of the timer."""
    cores: Cores
    """Which CPUs each program gets."""
    workers: int | None = None
    """Number of workers or copies of the target that the user chose. Null: one for each of its physical cores."""
    attempt: int = Field(default=0, ge=0)
    """0: as planned. Higher: a repeat, because the attempts before it were disturbed."""

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """What its rounds have in common."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)
