"""What is asked, and how: workloads, loads, suites, and the plan of trials."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated

from pydantic import Field, model_validator

from httpbench.model.frozen import Frozen, Name
from httpbench.model.target import Kind, Scaling


class Request(Frozen):
    method: str = Field(default="GET", pattern=r"^[A-Z]+$")
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    """As it stands in the request: spaces and letters beyond ASCII are percent-encoded."""
    headers: dict[str, str] = {}
    body: str = ""


class Expectation(Frozen):
    """What a right answer is."""

    status: int | None = Field(default=200, ge=100, le=599)
    """``None``: any from 200 to 299, but the same one throughout."""
    body: str | None = None
    """The exact body; ``None`` where any will do, or ``body_sha256`` tells."""
    body_sha256: str | None = Field(default=None, pattern=r"^[0-9a-f]{64}$")
    """The SHA-256 of the exact body, for bodies that are too long to be written out."""
    body_bytes: int | None = Field(default=None, ge=0)
    """The size of the body."""
    content_type: str | None = None
    """The media type, parameters aside."""
    headers: tuple[str, ...] = ()
    """Names of headers that must be present."""


class ClientWork(Frozen):
    """What a client does: so many requests, one after the other, to a server that answers so."""

    requests: int = Field(ge=1, le=10_000_000)
    body_bytes: int = Field(default=12, ge=0, le=1 << 30)
    """Of each answer."""
    reconnect: bool = False
    """The server closes after each answer, so that each request needs a connection of its own; otherwise all go over one."""


class Workload(Frozen):
    """What is asked and what a right answer is."""

    name: Name
    description: str
    request: Request = Request()
    expect: Expectation = Expectation()
    client: ClientWork | None = None
    """``None``: a workload for servers."""
    backend: str | None = None
    """Id of the server that answers behind a proxy; only a workload of proxies has one."""

    @property
    def kind(self) -> Kind:
        """What it is asked of."""
        return Kind.CLIENT if self.client else Kind.PROXY if self.backend else Kind.SERVER


class Level(Frozen):
    """A stretch of a load at one rate."""

    rate_rps: float
    start_s: float
    """Since the measurement began."""
    duration_s: float


STEADY_S_MIN = 1.5
"""What is steady cannot be seen sooner: fourteen windows of a tenth of a second."""


class Load(Frozen):
    """How it is asked. A closed loop (next request when the answer came) unless ``rate_rps`` is given.

    A client makes its own load, as the workload says; of its trial ``duration_s`` is the longest that it may take.
    """

    connections: int = Field(default=64, ge=1, le=1_000_000)
    threads: int | None = Field(default=None, ge=1, le=1024)
    """Threads of the load generator; ``None``: one for each of its cores."""
    pipeline: int = Field(default=1, ge=1, le=1024)
    keepalive: bool = True
    duration_s: float = Field(default=10, gt=0, le=86_400)
    warmup_s: float = Field(default=2, ge=0, le=3600)
    """On the connections that are measured, where the generator can do so."""
    warmup_max_s: float | None = Field(default=None, gt=0, le=3600)
    """Before that the target is loaded until its throughput is steady; both together take at most this. ``None``: only ``warmup_s``."""
    timeout_s: float = Field(default=2, gt=0, le=3600)
    rate_rps: float | None = Field(default=None, gt=0)
    """Offered; with ``rate_from_rps`` the highest rate, held to the end."""
    rate_from_rps: float | None = Field(default=None, gt=0)
    """Where a rising rate begins; it rises by ``rate_step_rps`` every ``step_s``. ``None``: the rate is the same throughout."""
    rate_step_rps: float | None = Field(default=None, gt=0)
    step_s: float | None = Field(default=None, ge=0.1)
    requests_per_connection: int | None = Field(default=None, ge=1)
    """A connection is closed after so many, and another opened; ``None``: it is kept as long as the load lasts."""

    @model_validator(mode="after")
    def _can_become_steady(self) -> Load:
        if self.warmup_max_s is not None and self.warmup_max_s < self.warmup_s + STEADY_S_MIN:
            raise ValueError(
                f"warmup_max_s must be at least {STEADY_S_MIN:g} s more than warmup_s: it takes that long to see what is steady"
            )
        return self

    @model_validator(mode="after")
    def _rises(self) -> Load:
        parts = (self.rate_from_rps, self.rate_step_rps, self.step_s)
        if all(part is None for part in parts):
            return self
        if self.rate_rps is None or None in parts:
            raise ValueError("a rising rate takes all of rate_from_rps, rate_rps, rate_step_rps and step_s")
        if self.rate_from_rps and self.rate_from_rps >= self.rate_rps:
            raise ValueError("a rising rate begins below the rate that it rises to")
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
    COMMANDS = "commands"  # rows that come from the command line: no language, no category
    TCP_PROXIES = "tcp-proxies"  # latency at the highest rate, and what each adds to the backend's own


class SuiteLoad(Frozen):
    """One load of a suite; what is left out is the default, and ``connections`` may be several."""

    connections: tuple[int, ...] = (64,)
    threads: int | None = None
    pipeline: int = 1
    keepalive: bool = True
    duration_s: float = 10
    """With a rising rate: how long the highest is held."""
    warmup_s: float = 2
    warmup_max_s: float | None = None
    timeout_s: float = 2
    rate_rps: float | None = None
    rate_from_rps: float | None = None
    rate_step_rps: float | None = None
    step_s: float | None = None
    requests_per_connection: int | None = None
    caps: dict[str, float] = {}
    """Id → the highest rate that the row is asked for, where it is known to hold no more."""


class Suite(Frozen):
    """Which targets × workloads × loads, how many rounds."""

    name: Name
    description: str
    kind: Kind = Kind.SERVER
    targets: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids, or parts of ids, as on the command line."""
    workloads: Annotated[tuple[Name, ...], Field(min_length=1)]
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    load_generator: Name = "native"
    rounds: int = Field(default=3, ge=1, le=1000)
    table: Table = Table.HTTP_SERVERS
    load: Annotated[tuple[SuiteLoad, ...], Field(min_length=1)]


class Cores(Frozen):
    """Who runs where: logical CPUs of this machine."""

    target: tuple[int, ...]
    generator: tuple[int, ...]
    harness: tuple[int, ...]
    backend: tuple[int, ...] = ()
    """Of the server behind a proxy; empty for servers and clients."""
    shared: bool
    """The target and the generator have a core in common; every table says so."""

    @property
    def backend_shared(self) -> bool:
        """The backend and the generator have a core in common; every table says so too."""
        return bool(set(self.backend) & set(self.generator))


class TrialPlan(Frozen):
    """One target, to be started, warmed up, measured and stopped once under one workload and load."""

    number: int
    """Place in the run, from 0."""
    round: int
    """From 0."""
    target: str
    scaling: Scaling
    workload: Name
    load: Load
    load_generator: Name
    cores: Cores

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """What its rounds have in common."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)
