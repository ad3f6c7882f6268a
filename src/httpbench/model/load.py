"""What is asked, and how: workloads, loads, suites, and the plan of trials."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import Field

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
    """The exact body; ``None`` where any will do."""
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
    timeout_s: float = Field(default=2, gt=0, le=3600)
    rate_rps: float | None = Field(default=None, gt=0)


class Table(StrEnum):
    """Which columns a run's tables have; its suite chooses."""

    HTTP_SERVERS = "http-servers"  # throughput and the whole range of latencies
    APP_SERVERS = "app-servers"  # throughput against what it costs in memory and CPU
    HTTP_CLIENTS = "http-clients"  # whole processes: mean and spread, relative to the fastest, and what a request costs
    COMMANDS = "commands"  # rows that come from the command line: no language, no category


class SuiteLoad(Frozen):
    """One load of a suite; what is left out is the default, and ``connections`` may be several."""

    connections: tuple[int, ...] = (64,)
    threads: int | None = None
    pipeline: int = 1
    keepalive: bool = True
    duration_s: float = 10
    warmup_s: float = 2
    timeout_s: float = 2
    rate_rps: float | None = None


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
    shared: bool
    """The target and the generator have a core in common; every table says so."""


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
