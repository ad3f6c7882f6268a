"""Check the contract under load: ten thousand requests over 64 connections must each get a correct response.

For workloads with a database, a thousand requests are enough, because each of them can cause twenty queries.

Our load generator accepts a duration instead of a number of requests. It therefore runs repeatedly, each time for twice as long, until
it has received enough responses. Even the first run is longer than the request timeout. In a shorter run, a request that never gets a
response would count as in flight at the end instead of as timed out.
"""

from __future__ import annotations

from pathlib import Path

from httpbench import http, load
from httpbench.load import Job
from httpbench.model import Cores, Load, Measurement, Trust, Workload
from httpbench.run.load.generator import run_generator
from httpbench.run.load.meters import Subject
from httpbench.run.trial.running import RunningTarget
from httpbench.stats.validity import failed_requests

REQUESTS = 10_000
REQUESTS_OF_DATABASE = 1_000
CONNECTIONS = 64
DURATIONS_S = (6.0, 12.0, 24.0)
TIMEOUT_S = 5.0
"""Request timeout, in seconds. It is long enough for a slow target on a busy machine, because the check is about correctness, not speed."""


def requests_under_load(workload: Workload) -> int:
    """Return how many requests must get a correct response."""
    return REQUESTS_OF_DATABASE if workload.asks_database else REQUESTS


def problem_under_load(running: RunningTarget, workload: Workload, cores: Cores, scratch: Path) -> tuple[str | None, int]:
    """Return a description of the first problem, or ``None``, and the number of correct responses.

    Raises :class:`~httpbench.errors.LoadError` if the load generator fails.
    """
    if http.is_learned(workload) and (found := http.learn(running.host, running.port, workload, transport=running.transport)):
        workload, _ = found
    workload = http.with_status(workload, running.response.status)
    correct, trust, http2 = 0, running.transport.trust, running.transport.http2
    for duration_s in DURATIONS_S:
        own_load = Load(connections=CONNECTIONS, duration_s=duration_s, warmup_s=0, timeout_s=TIMEOUT_S, tls=trust is not None, http2=http2)
        job = Job(running.url(workload.request.path), workload, own_load, cores.generator, scratch, trust=trust or Trust())
        subject = Subject(running, cores)
        under_load = run_generator(load.get("native"), job, subject, lambda *_: None)
        if under_load.death:
            return f"it died ({under_load.death})", correct
        assert under_load.measurement is not None, "a generator without a result raises, unless the target died"
        if problem := _failures(under_load.measurement):
            return problem, correct
        correct += under_load.measurement.requests.ok
        if correct >= requests_under_load(workload):
            return None, correct
    return f"only {correct:,} responses in {sum(DURATIONS_S):.0f} s", correct


def _failures(measurement: Measurement) -> str | None:
    sampled = measurement.sampled_bodies
    if sampled and sampled.problems:
        return f"{sampled.wrong:,} of {sampled.checked:,} sampled responses were wrong: {'; '.join(sampled.problems)}"
    failed = failed_requests(measurement)
    if not failed:
        return None
    kinds = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in measurement.errors.items() if count)
    return f"{failed:,} of {failed + measurement.requests.ok:,} requests failed ({kinds or 'wrong responses'})"
