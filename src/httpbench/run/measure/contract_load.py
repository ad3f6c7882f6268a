"""The clause of the contract that takes a load: ten thousand requests over 64 connections, each answered rightly.

Our load generator is told how long to run, not how many requests to send, so it runs again, each time twice as long, until there
are enough. Even the first run is longer than the timeout: a request that is never answered would otherwise pass for one that was
still on its way at the end.
"""

from __future__ import annotations

from pathlib import Path

from httpbench import load
from httpbench.load import Job
from httpbench.model import Cores, Load, Measurement, Workload
from httpbench.run.measure.generator import Subject, drive
from httpbench.run.start import HOST, Served
from httpbench.stats.verdict import failed_requests

REQUESTS = 10_000
CONNECTIONS = 64
DURATIONS_S = (6.0, 12.0, 24.0)
TIMEOUT_S = 5.0
"""Whoever answers at all does so by then, on a busy machine too: the clause is about right answers, not fast ones."""


def endures_load(served: Served, workload: Workload, cores: Cores, scratch: Path) -> str | None:
    """What is wrong, or nothing. Raises :class:`~httpbench.errors.LoadError` when the load cannot be made."""
    answered = 0
    for duration_s in DURATIONS_S:
        asked = Load(connections=CONNECTIONS, duration_s=duration_s, warmup_s=0, timeout_s=TIMEOUT_S)
        job = Job(f"http://{HOST}:{served.port}{workload.request.path}", workload, asked, cores.generator, scratch)
        driven = drive(load.get("native"), job, Subject(served.guard_pid, cores, served.death), lambda _: None)
        if driven.death:
            return f"it died ({driven.death})"
        assert driven.measurement is not None, "a generator without a result raises, unless the target died"
        if problem := _failures(driven.measurement):
            return problem
        answered += driven.measurement.requests.ok
        if answered >= REQUESTS:
            return None
    return f"only {answered:,} answers came in {sum(DURATIONS_S):.0f} s"


def _failures(measurement: Measurement) -> str | None:
    failed = failed_requests(measurement)
    if not failed:
        return None
    kinds = ", ".join(f"{name.replace('_', ' ')} {count:,}" for name, count in measurement.errors.items() if count)
    return f"{failed:,} of {failed + measurement.requests.ok:,} requests failed ({kinds or 'wrong answers'})"
