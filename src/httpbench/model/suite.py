"""Suites: targets, workloads and loads to measure together."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

from pydantic import BeforeValidator, Field, WithJsonSchema, field_validator, model_validator

from httpbench.model.container import CPUS, MEMORY_BYTES, NetworkMode, Runtime, size_bytes
from httpbench.model.frozen import NAME_PATTERN, Frozen, Name, WorkloadName
from httpbench.model.load import SHARE_MAX, Arrivals, Fault
from httpbench.model.target import Kind, Scaling


class Table(StrEnum):
    """A set of columns for a run's tables. The suite selects one."""

    HTTP_SERVERS = "http-servers"  # throughput and all latency percentiles
    APP_SERVERS = "app-servers"  # throughput, memory use and CPU use
    HTTP_CLIENTS = "http-clients"  # mean run time and spread of each client, time relative to the fastest client, and cost per request
    COMMANDS = "commands"  # targets from the command line, without language and category
    STARTUP = "startup"  # time to the first response and to steady throughput, memory and size of each server
    FAILOVER = "failover"  # failed requests of each proxy, and times until it avoids a failed backend and uses it again
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
    rest_s: float | None = None
    """Time without load after the measurement, in seconds, after which memory is measured again. Default: start-up isn't measured."""
    fault: Fault | None = None
    """How one of each proxy's two backends fails. Default: a proxy has one backend, which doesn't fail."""
    fault_at_s: float | None = None
    """Time from the start of the measurement until the backend fails, in seconds."""
    fault_s: float | None = None
    """Time from the failure of the backend until its return, in seconds."""
    shares_of_peak: tuple[Annotated[float, Field(gt=0, le=SHARE_MAX)], ...] = ()
    """Shares of each target's own peak, such as 0.5. Each share repeats the load as an open loop with Poisson arrivals, at that share of
    the throughput that the target reached in the closed loop. A share above 1 uses at least 1,000 connections."""
    caps: dict[str, float] = {}
    """Maximum offered rate of each target that can't sustain the suite's rates, in requests/s, by target id."""

    @model_validator(mode="after")
    def _has_a_peak(self) -> SuiteLoad:
        if self.shares_of_peak and (self.rate_rps is not None or self.rest_s is not None):
            raise ValueError("shares_of_peak requires a closed loop, which measures the peak: remove rate_rps and rest_s")
        return self


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

    @model_validator(mode="after")
    def _shows_faults(self) -> Suite:
        if any((load.fault is not None) != (self.table is Table.FAILOVER) for load in self.load):
            raise ValueError('table = "failover" requires a fault in each load, and a fault requires table = "failover"')
        if self.table is Table.FAILOVER and self.kind is not Kind.PROXY:
            raise ValueError('table = "failover" requires kind = "proxy"')
        return self

    @field_validator("memory")
    @classmethod
    def _is_a_size(cls, text: str) -> str:
        size_bytes(text)
        return text
