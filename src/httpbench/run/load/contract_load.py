"""Check the contract under load: ten thousand requests over 64 connections must each get a correct response.

For workloads with a database, a thousand requests are enough, because each of them can cause twenty queries.

The load consists of slices, each longer than the one before, until there are enough responses. After each slice, the load generator
waits for the responses to all requests. A request that never gets a response therefore times out, even if a slice is short.
"""

from __future__ import annotations

from pathlib import Path

from httpbench import http
from httpbench.load import Job, Native
from httpbench.model import Cores, Load, Measurement, Trust, Workload
from httpbench.run.load.generator import measured
from httpbench.run.load.meters import Subject
from httpbench.run.load.place import HERE
from httpbench.run.load.slice_generator import SliceGenerator
from httpbench.run.trial.running import RunningTarget
from httpbench.stats.validity import failed_requests

REQUESTS = 10_000
REQUESTS_OF_DATABASE = 1_000
CONNECTIONS = 64
SLICES_S = (1.0, 4.0, 12.0, 24.0)
"""Lengths of the slices, in seconds."""
TIMEOUT_S = 20.0
"""Request timeout, in seconds. It is long enough for slow targets, because the check is about correctness, not speed. For example, a thread
of Puma 5 waits up to 0.2 s for the next request on a connection before it responds to a request on another connection."""


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
    trust, http2 = running.transport.trust, running.transport.http2
    own_load = Load(connections=CONNECTIONS, duration_s=SLICES_S[0], warmup_s=0, timeout_s=TIMEOUT_S, tls=trust is not None, http2=http2)
    url, trusted = running.url(workload.request.path), trust or Trust()
    job = Job(url, workload, own_load, cores.generator, scratch, trust=trusted, in_slices=True)
    native, needed, correct = Native(), requests_under_load(workload), 0
    with HERE.start(native, job, warmup=False) as launched:
        generator = SliceGenerator(native, job, launched, running.death, lambda _: None)
        generator.connect()
        for length_s in SLICES_S:
            if (report := generator.slice(0, length_s)) is None:
                break  # the target died
            arrived = report.completed + report.outside
            correct += arrived
            if not arrived or correct >= needed:
                break
        output = generator.end()
    if died := running.death():
        return f"it died ({died})", correct
    measurement = measured(native, job, output, None, Subject(running, cores))
    assert measurement is not None, "a generator without a result raises, unless the target died"
    if problem := _failures(measurement):
        return problem, correct
    return None if correct >= needed else f"only {correct:,} responses in {sum(SLICES_S):.0f} s", correct


def _failures(measurement: Measurement) -> str | None:
    sampled = measurement.sampled_bodies
    if sampled and sampled.problems:
        return f"{sampled.wrong:,} of {sampled.checked:,} sampled responses were wrong: {'; '.join(sampled.problems)}"
    failed = failed_requests(measurement)
    if not failed:
        return None
    kinds = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in measurement.errors.items() if count)
    return f"{failed:,} of {failed + measurement.requests.ok:,} requests failed ({kinds or 'wrong responses'})"
