"""Run a load generator against a target, and sample both while it measures."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Callable
from dataclasses import dataclass

from httpbench import http
from httpbench.errors import LoadError
from httpbench.load import Job, LoadGenerator, Output, Phase, Progress
from httpbench.model import Cores, Measurement, Observed
from httpbench.run.database.running import RunningDatabase
from httpbench.run.load.place import HERE, LoadPlace, RunningGenerator
from httpbench.run.load.sampled_bodies import with_sampled_bodies
from httpbench.run.trial.start import RunningTarget
from httpbench.sample import Current, NetworkMeter, OccupancyMeter, SharedQuotaMeter, StrangerMeter

POLL_S = 0.1


Report = Callable[[Progress, Callable[[], Current] | None], None]
"""Callback for each sign of progress. Its second argument reads the current cost of the target, or is ``None`` if the target isn't sampled.
"""


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """The measurement and observations of a target under load."""

    measurement: Measurement | None
    """Measurement. ``None``: the target died, and the generator reported nothing before that."""
    observed: Observed
    death: str | None = None
    """How the target ended, if it did."""
    command: tuple[str, ...] = ()
    """Command line of the generator."""


@dataclass(frozen=True, slots=True)
class Subject:
    """The programs that a load is put on."""

    target: RunningTarget
    cores: Cores
    backend: RunningTarget | None = None
    """Server behind a proxy. ``None``: no proxy."""
    database: RunningDatabase | None = None
    """Database that the target uses. ``None``: no database."""


def run_generator(generator: LoadGenerator, job: Job, subject: Subject, report: Report, place: LoadPlace = HERE) -> UnderLoad:
    """Make the load, and pass each sign of progress to ``report``.

    Raises :class:`LoadError` if the generator fails or hangs, if its output can't be read, or if its load host is lost.
    """
    command = generator.argv(job, warmup=False)
    with place.start(generator, job, warmup=False) as running:
        window = _Window(generator, subject, running, report)
        try:
            died, stderr = _watch(running, window, _time_limit(generator, job), subject, generator)
            exits = running.exits()
        finally:
            observed = window.close()
        output = Output(running.stdout(), stderr, exits[0].code if exits else 0)
    try:
        measured = generator.measurement(job, output)  # first, because it reports output that can't be read
        kept = generator.kept_responses(job, output)
        direct = _direct_response(subject.backend, job) if kept and subject.backend else None
        measurement = with_sampled_bodies(measured, kept, direct)
    except LoadError:
        if died is None:
            raise
        measurement = None
    return UnderLoad(measurement, observed, died, tuple(command))


def _direct_response(backend: RunningTarget, job: Job) -> http.Response | None:
    """Return a response of a proxy's backend without the proxy, or ``None`` if it no longer responds."""
    try:
        response, _ = http.exchange(backend.host, backend.port, job.workload.request)
    except (http.ExchangeError, OSError):
        return None
    return response


class _Window:
    """Samplers that run only while the generator measures, not while it connects or warms up."""

    def __init__(self, generator: LoadGenerator, subject: Subject, running: RunningGenerator, report: Report):
        self._generator = generator
        self._running = running
        self._target = subject.target.sampler()
        self._backend = subject.backend.sampler() if subject.backend else None
        self._database = subject.database.sampler() if subject.database else None
        self._meter = OccupancyMeter(subject.cores.measured)
        self._network = NetworkMeter()
        self._quota = SharedQuotaMeter()
        contained = _contained(subject)
        self._strangers = StrangerMeter(subject.cores.measured, roots=contained)
        self._report = report
        self._observed: Observed | None = None
        self._marked = False
        self._samplers = [sampler for sampler in (self._target, self._backend, self._database) if sampler]
        for sampler in self._samplers:
            sampler.start()
        running.mark()

    def line(self, text: str) -> bool:
        """Process a line of the generator's standard error, and return whether it was a sign of progress."""
        progress = self._generator.progress(text)
        if progress is None:
            return False
        if progress.phase is Phase.MEASURE and not self._marked:
            self._marked = True
            for sampler in self._samplers:
                sampler.mark()
            self._running.mark()
            self._meter.mark()
            self._network.mark()
            self._quota.mark()
            self._strangers.mark()  # last, because it takes longest
        elif progress.phase is Phase.DONE:
            self.close()
        self._report(progress, self._target.current if self._target else None)
        return True

    def close(self) -> Observed:
        if self._observed is None:
            occupancy, network, quota = self._meter.read(), self._network.read(), self._quota.read()
            samplers = (self._target, self._backend, self._database)
            target, backend, database = (sampler.stop() if sampler else None for sampler in samplers)
            own, load_host = self._running.close()
            others = self._strangers.read().model_copy(update={"quota": quota})
            self._observed = Observed(
                target_usage=target,
                generator_usage=own,
                backend_usage=backend,
                database_usage=database,
                occupancy=occupancy,
                others=others,
                network=network,
                load_host=load_host,
            )
        return self._observed


def _contained(subject: Subject) -> list[int]:
    """Return the first processes of containers, which are children of their engine."""
    target = subject.target.container
    database = subject.database.container_pid if subject.database else None
    return [pid for pid in (target.pid if target else None, database) if pid is not None]


def _watch(
    running: RunningGenerator, window: _Window, limit_s: float, subject: Subject, generator: LoadGenerator
) -> tuple[str | None, str]:
    """Wait until the generator ends.

    Returns how the target died, if it did, and the generator's messages on standard error.
    """
    deadline = time.monotonic() + limit_s
    pending = ""
    messages: list[str] = []
    while True:
        ended = bool(running.exits())
        ready, _, _ = select.select([running.stderr, *([] if ended else [running.events])], [], [], 0 if ended else POLL_S)
        if running.stderr in ready:
            data = os.read(running.stderr, 65_536)
            *lines, pending = (pending + data.decode(errors="replace")).split("\n")
            messages += [line for line in lines if not window.line(line)]
        elif ended:
            return None, "\n".join([*messages, pending])
        died = subject.target.death()
        if died is not None or (subject.backend and subject.backend.death()):
            running.stop()  # it reports what it has measured so far, if it can
            return died, "\n".join([*messages, pending])
        if time.monotonic() > deadline:
            raise LoadError(f"{generator.name} did not end within {limit_s:.0f} s", log_tail="\n".join(messages[-15:]) or None)


def _time_limit(generator: LoadGenerator, job: Job) -> float:
    return job.load.warmup_s + job.load.duration_s + job.load.timeout_s + generator.slack_s
