"""Suites: targets, workloads and loads to measure together."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator

from httpbench.model.container import CPUS, MEMORY_BYTES, NetworkMode, Runtime, size_bytes
from httpbench.model.frozen import NAME_PATTERN, Frozen, Name, WorkloadName
from httpbench.model.load import Arrivals
from httpbench.model.target import Kind, Scaling


class Table(StrEnum):
    """A set of columns for a run's tables. The suite selects one."""

    HTTP_SERVERS = "http-servers"  # throughput and all latency percentiles
    APP_SERVERS = "app-servers"  # throughput, memory use and CPU use
    HTTP_CLIENTS = "http-clients"  # mean run time and spread of each client, time relative to the fastest client, and cost per request
    COMMANDS = "commands"  # targets from the command line, without language and category
    TCP_PROXIES = "tcp-proxies"  # latency at the highest rate, and how much each proxy adds to the backend's latency


class SuiteLoad(Frozen):
    """A load of a suite, or several loads that differ only in the number of connections."""

    connections: tuple[int, ...] = (64,)
    """Numbers of connections. Each number defines a separate load."""
    threads: int | None = None
    """Number of threads of the load generator. Default: one per core."""
    pipeline: int = 1
    """Number of requests in flight per connection."""
    tls: bool = False
    """Whether connections use TLS."""
    http2: bool = False
    """Whether requests use HTTP/2. ``pipeline`` is then the number of streams in flight on each connection."""
    tls_resumption: bool = False
    """Whether connections may resume earlier TLS sessions. Otherwise, each connection performs a full handshake."""
    keepalive: bool = True
    """Whether connections are kept alive. Otherwise, each request uses a new connection."""
    duration_s: float = 10
    """Measured duration, in seconds. With a rising rate: duration of the highest rate."""
    warmup_s: float = 2
    """Duration of the warm-up, in seconds."""
    warmup_max_s: float | None = None
    """Maximum duration of the warm-up, in seconds, including ``warmup_s``. The warm-up ends earlier once throughput is steady. Default: the
    warm-up always lasts ``warmup_s``."""
    timeout_s: float = 2
    """Request timeout, in seconds."""
    rate_rps: float | None = None
    """Rate of an open loop, in requests/s. With a rising rate: the highest rate. Default: closed loop."""
    rate_from_rps: float | None = None
    """Lowest value of a rising rate, in requests/s. Default: the rate is constant."""
    rate_step_rps: float | None = None
    """Increase of a rising rate at each step, in requests/s."""
    step_s: float | None = None
    """Duration of each step of a rising rate, in seconds."""
    arrivals: Arrivals = Arrivals.CONSTANT
    """Spacing of the requests of an open loop."""
    requests_per_connection: int | None = None
    """Number of requests per connection before reconnecting. Default: unlimited."""
    caps: dict[str, float] = {}
    """Maximum offered rate of each target that can't sustain the suite's rates, in requests/s, by target id."""


_A_NAME = {"type": "string", "pattern": NAME_PATTERN}
OneOrSeveral = Annotated[
    tuple[Name, ...],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1),
    WithJsonSchema({"anyOf": [_A_NAME, {"type": "array", "items": _A_NAME, "minItems": 1}]}, mode="validation"),
]
"""A name or an array of names."""


class Suite(Frozen):
    """A suite: targets × workloads × loads, and the number of rounds."""

    name: Name
    """Name of the suite."""
    description: str
    """Purpose of the suite, as a sentence."""
    kind: Kind = Kind.SERVER
    """Kind of the suite's targets."""
    targets: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids of targets, or parts of ids, as on the command line."""
    workloads: Annotated[tuple[WorkloadName, ...], Field(min_length=1)]
    """Names of workloads."""
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    """Scalings to measure. Each target is measured in those that it supports."""
    load_generator: OneOrSeveral = ("native",)
    """Load generator, or an array of load generators. Each one measures all targets and loads. For clients: the timer."""
    rounds: int = Field(default=3, ge=1, le=1000)
    """Number of rounds."""
    table: Table = Table.HTTP_SERVERS
    """Columns of the suite's tables."""
    load: Annotated[tuple[SuiteLoad, ...], Field(min_length=1)]
    """Loads to measure with each target and workload."""
    isolate: Annotated[tuple[Runtime, ...], Field(min_length=1)] = (Runtime.PROCESS,)
    """Ways to run the targets: as processes or in containers. Each way has separate rows in the tables."""
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
