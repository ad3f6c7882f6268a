"""How requests are sent: connections, rates and durations."""

from __future__ import annotations

import math
from enum import StrEnum

from pydantic import Field, model_validator

from httpbench.model.frozen import Frozen


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


class Arrivals(StrEnum):
    """The spacing of the requests of an open loop."""

    CONSTANT = "constant"
    POISSON = "poisson"  # exponentially distributed intervals, as with many independent users


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
    """Rate of an open loop, in requests/s. If the rate rises: the highest rate, which lasts until the load ends. Null: closed loop."""
    rate_from_rps: float | None = Field(default=None, gt=0)
    """Lowest value of a rising rate, in requests/s. Null: the rate is constant."""
    rate_step_rps: float | None = Field(default=None, gt=0)
    """Increase of a rising rate at each step, in requests/s. Null: the rate is constant."""
    step_s: float | None = Field(default=None, ge=0.1)
    """Duration of each step of a rising rate, in seconds. Null: the rate is constant."""
    arrivals: Arrivals = Arrivals.CONSTANT
    """Spacing of the requests of an open loop."""
    requests_per_connection: int | None = Field(default=None, ge=1)
    """Number of requests per connection before reconnecting. Null: unlimited."""

    @model_validator(mode="after")
    def _is_possible(self) -> Load:
        if self.tls_resumption and not self.tls:
            raise ValueError("tls_resumption requires tls")
        if self.warmup_max_s is not None and self.warmup_max_s < self.warmup_s + STEADY_S_MIN:
            raise ValueError(
                f"warmup_max_s must be at least {STEADY_S_MIN:g} s more than warmup_s: a steady state takes that long to detect"
            )
        parts = (self.rate_from_rps, self.rate_step_rps, self.step_s)
        if all(part is None for part in parts):
            return self
        if self.rate_rps is None or None in parts:
            raise ValueError("a rising rate requires all of rate_from_rps, rate_rps, rate_step_rps and step_s")
        if self.rate_from_rps and self.rate_from_rps >= self.rate_rps:
            raise ValueError("rate_from_rps must be below rate_rps")
        if len(self.levels) < self.steps:
            raise ValueError(f"{self.duration_s:g} s is too short for {self.steps} steps of {self.step_s:g} s each")
        return self

    @property
    def steps(self) -> int:
        """Number of different rates; 0 in a closed loop."""
        if self.rate_rps is None:
            return 0
        if self.rate_from_rps is None or self.rate_step_rps is None:
            return 1
        return math.ceil((self.rate_rps - self.rate_from_rps) / self.rate_step_rps - 1e-9) + 1

    @property
    def levels(self) -> tuple[Level, ...]:
        """The levels of the load in order. The last level lasts until the load ends.

        Empty in a closed loop. There are fewer levels than ``steps`` if ``duration_s`` is too short.
        """
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
