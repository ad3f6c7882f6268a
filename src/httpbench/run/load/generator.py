"""Run a load generator against a target, and sample both programs during the measurement."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from httpbench import http
from httpbench.errors import LoadError
from httpbench.load import Job, LoadGenerator, Output, Phase, Progress
from httpbench.model import Measurement, Observed
from httpbench.run.load.lines import StderrLines
from httpbench.run.load.meters import Meters, Subject
from httpbench.run.load.place import HERE, LoadPlace, RunningGenerator
from httpbench.run.load.sampled_bodies import with_sampled_bodies
from httpbench.run.trial.running import RunningTarget
from httpbench.sample import Current

Report = Callable[[Progress, Callable[[], Current] | None], None]
"""Callback for each progress report. Its second argument is a function that reads the target's current CPU time and memory, or ``None`` if
the target isn't sampled."""


@dataclass(frozen=True, slots=True)
class UnderLoad:
    """The measurement and observations of a target under load."""

    measurement: Measurement | None
    """Measurement, or ``None`` if the target died before the generator reported anything."""
    observed: Observed
    death: str | None = None
    """Description of how the target ended, or ``None`` if it didn't."""
    command: tuple[str, ...] = ()
    """Command line of the generator."""


def run_generator(generator: LoadGenerator, job: Job, subject: Subject, report: Report, place: LoadPlace = HERE) -> UnderLoad:
    """Run the load generator, and pass each progress report to ``report``.

    Raises :class:`LoadError` if the generator fails or hangs, if its output can't be read, or if its load host is lost.
    """
    command = generator.argv(job, warmup=False)
    limit_s = job.load.warmup_s + job.load.duration_s + job.load.timeout_s + generator.slack_s
    with place.start(generator, job, warmup=False) as running:
        window = _Window(generator, Meters(subject, running), report)
        try:
            died, stderr = _watch(running, window, limit_s, subject, generator)
            exits = running.exits()
        finally:
            observed = window.close()
        output = Output(running.stdout(), stderr, exits[0].code if exits else 0)
    return UnderLoad(measured(generator, job, output, died, subject), observed, died, tuple(command))


def measured(generator: LoadGenerator, job: Job, output: Output, died: str | None, subject: Subject) -> Measurement | None:
    """Parse the generator's output, check the kept responses, and return the measurement.

    If the output can't be parsed, returns ``None`` if the target died, and otherwise raises :class:`LoadError`.
    """
    try:
        found = generator.measurement(job, output)
    except LoadError:
        if died is None:
            raise
        return None
    kept = generator.kept_responses(job, output)
    if job.load.fault is not None:  # error messages of the proxy are expected, and counted as failed requests
        kept = tuple(one for one in kept if http.parsed(one.head, one.body).status == job.status)
    direct = _direct_response(subject.backend, job) if kept and subject.backend else None
    return with_sampled_bodies(found, kept, direct, subject.mode, fresh_rows=job.fresh_rows)


def _direct_response(backend: RunningTarget, job: Job) -> http.Response | None:
    """Request a response directly from a proxy's backend, and return it, or ``None`` if the backend no longer responds."""
    try:
        response, _ = http.exchange(backend.host, backend.port, job.workload.request)
    except (http.ExchangeError, OSError):
        return None
    return response


class _Window:
    """The measured window of the meters. It excludes the time in which the generator connects and warms up."""

    def __init__(self, generator: LoadGenerator, meters: Meters, report: Report):
        self._generator, self._meters, self._report = generator, meters, report
        self._observed: Observed | None = None
        self._marked = False
        meters.begin()

    def line(self, text: str) -> bool:
        """Process a line of the generator's standard error, and return whether it reported progress."""
        progress = self._generator.progress(text)
        if progress is None:
            return False
        if progress.phase is Phase.MEASURE and not self._marked:
            self._marked = True
            self._meters.mark()
        elif progress.phase is Phase.DONE:
            self.close()
        self._report(progress, self._meters.current)
        return True

    def close(self) -> Observed:
        if self._observed is None:
            self._observed = self._meters.read()
        return self._observed


def _watch(
    running: RunningGenerator, window: _Window, limit_s: float, subject: Subject, generator: LoadGenerator
) -> tuple[str | None, str]:
    """Wait until the generator or a program under load ends.

    Returns how the target died, or ``None``, and the generator's messages on standard error.
    """
    deadline = time.monotonic() + limit_s
    lines, messages = StderrLines(running), list[str]()
    while (arrived := lines.arrived()) is not None:
        messages += [line for line in arrived if not window.line(line)]
        died = subject.target.death()
        if died is not None or (subject.backend and subject.backend.death()):
            running.stop()  # the generator reports what it has measured so far, if it can
            return died, "\n".join([*messages, lines.rest])
        if time.monotonic() > deadline:
            raise LoadError(f"{generator.name} did not end within {limit_s:.0f} s", log_tail="\n".join(messages[-15:]) or None)
    return None, "\n".join([*messages, lines.rest])
