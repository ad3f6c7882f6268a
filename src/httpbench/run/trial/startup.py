"""Measure how a server starts: the time to its first correct response, and its memory at that moment.

Before the server starts, a load generator starts on its own cores and waits for the server to listen. It reports times on the monotonic
clock. On the same clock, ``httpbench-timer`` reports when it executes the server's program. The result therefore doesn't include the time
that the harness takes.
"""

from __future__ import annotations

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Self

from httpbench import http
from httpbench.errors import LoadError, StartError
from httpbench.isolate import Command, Container, ProcessTree, tail
from httpbench.load import FirstResponse, Job, Native
from httpbench.model import Measurement, Startup, Trust, Usage

WINDOW_S = 0.1
"""Length of the windows of a load that show when a server's throughput has reached its final level, in seconds."""


@dataclass(frozen=True, slots=True)
class Started:
    """The first correct response of a server, and the server's memory after it."""

    ready_s: float
    """Time from the execution of the program to the end of the response, in seconds."""
    first_us: float
    """Service time of the request, in µs."""
    usage: Usage
    """Usage of memory after the response."""

    @classmethod
    def of(cls, found: FirstResponse, executed_ns: int, usage: Usage) -> Self:
        """Return the start of a program that was executed at this time, in nanoseconds of the monotonic clock.

        Raises :class:`LoadError` if the load generator began to wait only after the program was executed.
        """
        if found.waiting_ns > executed_ns:
            raise LoadError("the server started before the load generator waited for it", hint="measure on a machine that is less busy")
        return cls((found.received_ns - executed_ns) / 1e9, (found.received_ns - found.sent_ns) / 1e3, usage)

    def startup(self, measurement: Measurement | None, rested: Usage | None, installed_bytes: int | None) -> Startup:
        """Return how the server started, with what was measured later. ``rested`` is its usage of memory after the load and the rest."""
        from httpbench.stats.steady import steady_after_s

        return Startup(
            ready_s=self.ready_s,
            first_us=self.first_us,
            steady_s=steady_after_s(measurement) if measurement else None,
            rss_bytes_ready=self.usage.rss_bytes_peak,
            pss_bytes_ready=self.usage.pss_bytes_peak,
            rss_bytes_rest=rested and rested.rss_bytes_peak,
            pss_bytes_rest=rested and rested.pss_bytes_peak,
            installed_bytes=installed_bytes,
        )


@dataclass(frozen=True, slots=True)
class FirstRequest:
    """A request that the native load generator sends to a server as soon as the server listens."""

    native: Native
    timer: str
    """Path of ``httpbench-timer``, which reports when the server's program is executed."""
    job: Job
    """Job of the load generator. Its URL is replaced, because the port isn't known yet."""

    @contextmanager
    def waiting(self, host: str, port: int, transport: http.Transport) -> Iterator[WaitingRequest]:
        """Start the load generator, and end it when the block ends."""
        name = f"[{host}]" if ":" in host else host
        url = f"{transport.scheme}://{name}:{port}{self.job.workload.request.path}"
        job = replace(self.job, url=url, trust=transport.trust or Trust(), unix_socket=transport.unix_socket)
        stdout, log = job.scratch / "first-response", job.scratch / "first-response.log"
        command = Command(self.native.first_response_argv(job), job.scratch, {}, job.cpus)
        with ProcessTree([command], stdout=stdout, stderr=log) as tree:
            yield WaitingRequest(self.native, job, tree, stdout, log, (host, port, transport))


@dataclass(frozen=True, slots=True)
class WaitingRequest:
    """A running load generator that waits for a server to listen."""

    native: Native
    job: Job
    tree: ProcessTree
    stdout: Path
    log: Path
    server: tuple[str, int, http.Transport]
    """Host and port of the server, and how requests reach it."""

    def response(self, program: ProcessTree | Container, tree: ProcessTree, limit_s: float) -> FirstResponse | None:
        """Wait for the first correct response of a program, or return ``None`` if the program ends before.

        ``tree`` contains the program or, for a container, the engine's client. Raises :class:`StartError` if there is no correct response
        within ``limit_s`` seconds, and :class:`LoadError` if the load generator fails.
        """
        deadline = time.monotonic() + limit_s
        while not self.tree.exits():
            if program.death() is not None:
                return None
            if (left_s := deadline - time.monotonic()) <= 0:
                raise StartError(f"did not respond correctly within {limit_s:g} s: {self._problem()}")
            select.select([self.tree.events, tree.events], [], [], left_s)
        if self.tree.exits()[0].code != 0:
            raise LoadError("the first response could not be measured", log_tail=tail(self.log))
        self.tree.kill()  # otherwise, its guard would run for as long as the server
        return self.native.first_response(self.stdout.read_text())

    def _problem(self) -> str:
        """Return what is wrong with a response, now that it is too late."""
        host, port, transport = self.server
        return next(iter(http.check(host, port, self.job.workload, transport)), "it responds correctly only now")
