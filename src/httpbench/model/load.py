"""How requests are sent: connections, rates and durations."""

from __future__ import annotations

import math
from enum import StrEnum

from pydantic import Field, model_validator

from httpbench.model.frozen import Frozen, Id


class Level(Frozen):
    """A part of a load during which the rate is constant."""

    rate_rps: float
    """Offered rate, in requests/s."""
    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Duration, in seconds."""


STEADY_S_MIN = 1.5
"""Minimum duration in which steady throughput can be detected, in seconds: fourteen windows of 0.1 s, rounded up."""


WARMUP_S_MAX = 3600
"""Maximum duration of a warm-up, in seconds."""


SHARE_MAX = 10.0
"""Maximum share of a target's own peak that a load offers."""


WATCHED_S_MIN = 1.0
"""Minimum duration for which a proxy is watched after a failed backend has returned, in seconds."""


class Arrivals(StrEnum):
    """The spacing of the requests of an open loop."""

    CONSTANT = "constant"
    POISSON = "poisson"  # exponentially distributed intervals, as with many independent users


class Fault(StrEnum):
    """How one of a proxy's two backends fails."""

    STALL = "stall"  # its processes are stopped: it accepts connections but doesn't respond, and later continues
    DEATH = "death"  # its processes are killed: it refuses connections, and is later started again


class Load(Frozen):
    """A closed loop, or an open loop if ``rate_rps`` is given.

    A client generates its own load, which the workload defines. For a client, ``duration_s`` is the maximum time for its trial.
    """

    connections: int = Field(default=64, ge=1, le=1_000_000)
    """Number of connections, summed over all threads of the load generator."""
    threads: int | None = Field(default=None, ge=1, le=1024)
    """Number of threads of the load generator. Null: one per core."""
    pipeline: int = Field(default=1, ge=1, le=1024)
    """Number of requests in flight per connection."""
    tls: bool = False
    """Whether connections use TLS."""
    http2: bool = False
    """Whether requests use HTTP/2: with TLS, the handshake selects it (ALPN); without TLS, the server must expect it (prior knowledge).
    ``pipeline`` is then the number of streams in flight on each connection."""
    tls_resumption: bool = False
    """Whether connections may resume earlier TLS sessions. Otherwise, each connection performs a full handshake."""
    keepalive: bool = True
    """Whether connections are kept alive. Otherwise, each request uses a new connection."""
    duration_s: float = Field(default=10, gt=0, le=86_400)
    """Measured duration, in seconds. For a client: the maximum time for its trial."""
    warmup_s: float = Field(default=2, ge=0, le=WARMUP_S_MAX)
    """Duration of the warm-up, in seconds. If the load generator supports it, the warm-up uses the same connections as the
    measurement."""
    warmup_max_s: float | None = Field(default=None, gt=0, le=WARMUP_S_MAX)
    """Maximum duration of the warm-up, in seconds, including ``warmup_s``. The warm-up ends earlier once throughput is steady. Null: the
    warm-up always lasts ``warmup_s``."""
    timeout_s: float = Field(default=2, gt=0, le=3600)
    """Request timeout, in seconds."""
    rate_rps: float | None = Field(default=None, gt=0)
    """Rate of an open loop, in requests/s. If the rate changes: the last rate, which lasts until the load ends. Null: closed loop."""
    rate_from_rps: float | None = Field(default=None, gt=0)
    """First value of a changing rate, in requests/s. Null: the rate is constant."""
    rate_step_rps: float | None = Field(default=None, gt=0)
    """Change of a changing rate at each step, in requests/s. Null: the rate is constant."""
    step_s: float | None = Field(default=None, ge=0.1)
    """Duration of each step of a changing rate, in seconds. Null: the rate is constant."""
    arrivals: Arrivals = Arrivals.CONSTANT
    """Spacing of the requests of an open loop."""
    requests_per_connection: int | None = Field(default=None, ge=1)
    """Number of requests per connection before reconnecting. Null: unlimited."""
    rest_s: float | None = Field(default=None, ge=0, le=3600)
    """Time without load after the measurement, in seconds, after which memory is measured again. Null: start-up isn't measured."""

    fault: Fault | None = None
    """How one of the proxy's two backends fails during the measurement. Null: the proxy has one backend, which doesn't fail."""
    fault_at_s: float | None = Field(default=None, ge=0.5)
    """Time from the start of the measurement until the backend fails, in seconds. Null: it doesn't fail."""
    fault_s: float | None = Field(default=None, ge=0.5)
    """Time from the failure of the backend until its return, in seconds. Null: it doesn't fail."""
    share_of_peak: float | None = Field(default=None, gt=0, le=SHARE_MAX)
    """Rate of an open loop as a share of a target's own peak: its highest throughput in a closed loop with the same requests. 1.5 is an
    overload. ``rate_rps`` is null until the peak is known. Null: the rate doesn't depend on a peak."""
    peak_of: Id | None = None
    """Id of the target whose peak ``share_of_peak`` refers to. It differs from the trial's target if the trial is that of a proxy's
    baseline. Null: the rate doesn't depend on a peak."""

    @model_validator(mode="after")
    def _is_possible(self) -> Load:
        self._require_possible_fault()
        if self.share_of_peak is not None and (self.rate_from_rps is not None or self.is_of_startup):
            raise ValueError("share_of_peak requires a constant rate, and a server that is warmed up")
        if self.tls_resumption and not self.tls:
            raise ValueError("tls_resumption requires tls")
        if self.rest_s is not None and (self.warmup_s or self.warmup_max_s):
            raise ValueError("rest_s requires warmup_s = 0: start-up is measured without a warm-up")
        if self.warmup_max_s is not None and self.warmup_max_s < self.warmup_s + STEADY_S_MIN:
            raise ValueError(
                f"warmup_max_s must be at least {STEADY_S_MIN:g} s more than warmup_s: a steady state takes that long to detect"
            )
        parts = (self.rate_from_rps, self.rate_step_rps, self.step_s)
        if all(part is None for part in parts):
            return self
        if self.rate_rps is None or None in parts:
            raise ValueError("a changing rate requires all of rate_from_rps, rate_rps, rate_step_rps and step_s")
        if self.rate_from_rps == self.rate_rps:
            raise ValueError("rate_from_rps must differ from rate_rps")
        if len(self.levels) < self.steps:
            raise ValueError(f"{self.duration_s:g} s is too short for {self.steps} steps of {self.step_s:g} s each")
        return self

    def _require_possible_fault(self) -> None:
        parts = (self.fault, self.fault_at_s, self.fault_s)
        if self.fault is None or self.fault_at_s is None or self.fault_s is None:
            if any(part is not None for part in parts):
                raise ValueError("a failing backend requires all of fault, fault_at_s and fault_s")
            return
        if self.rate_rps is None or self.rate_from_rps is not None:
            raise ValueError("fault requires rate_rps, which must be constant")
        if self.tls or self.http2:
            raise ValueError("fault requires plain HTTP/1.1: remove tls and http2")
        if self.warmup_max_s is not None:
            raise ValueError("fault requires a warm-up of fixed length: remove warmup_max_s")
        if self.duration_s < (least_s := self.fault_at_s + self.fault_s + WATCHED_S_MIN):
            raise ValueError(f"{self.duration_s:g} s is too short: a fault of {self.fault_s:g} s requires at least {least_s:g} s")

    @property
    def is_of_startup(self) -> bool:
        """Whether the load is the one that follows the measured start of a server."""
        return self.rest_s is not None

    @property
    def is_overload(self) -> bool:
        """Whether the load offers more than the target's peak, so that the target isn't expected to hold the rate."""
        return self.share_of_peak is not None and self.share_of_peak > 1

    @property
    def may_fail(self) -> bool:
        """Whether failed requests and a missed rate are results: a backend fails, or the load is an overload."""
        return self.fault is not None or self.is_overload

    @property
    def steps(self) -> int:
        """Number of different rates; 0 in a closed loop."""
        if self.rate_rps is None:
            return 0
        if self.rate_from_rps is None or self.rate_step_rps is None:
            return 1
        return math.ceil(abs(self.rate_rps - self.rate_from_rps) / self.rate_step_rps - 1e-9) + 1

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the load in order. The last level lasts until the load ends.

        Empty in a closed loop. There are fewer levels than ``steps`` if ``duration_s`` is too short.
        """
        if self.rate_rps is None:
            return ()
        first, each_s = self.rate_from_rps or self.rate_rps, self.step_s or self.duration_s
        rise, last = math.copysign(self.rate_step_rps or 0.0, self.rate_rps - first), self.steps - 1
        return tuple(
            Level(
                rate_rps=self.rate_rps if at == last else first + at * rise,
                start_s=at * each_s,
                duration_s=self.duration_s - at * each_s if at == last else each_s,
            )
            for at in range(self.steps)
            if at * each_s <= self.duration_s - each_s + 1e-9
        )
