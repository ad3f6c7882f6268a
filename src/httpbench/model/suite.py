"""Suites: targets, workloads and loads that are measured together."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from httpbench.model.container import CPUS, MEMORY_BYTES, NetworkMode, Place, size_bytes
from httpbench.model.frozen import NAME_PATTERN, Frozen, Name, WorkloadName
from httpbench.model.target import Kind, Scaling


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
