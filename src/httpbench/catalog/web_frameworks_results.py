"""Read the results that the-benchmarker/web-frameworks publishes (``data.json`` and ``data.min.json``) as a run.

The project loads each framework with one request after the other: ``GET /``, ``GET /user/0`` and ``POST /user``. It publishes the averages
of the three loads, so each trial has the mix of the three workloads. A value of −1 or null means unknown.

The file states no units. Until July 2025, times were in µs, because the project used wrk. Later files have latencies in seconds and
durations in milliseconds, and the project has opened a connection for each request. The durations tell the two apart, because no load
lasts longer than ``DURATION_MS_MAX``.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import foreign_target
from httpbench.catalog.imported import (
    UNKNOWN,
    PublishedRow,
    digest,
    nonzero,
    published_environment,
    published_run,
    read_published_json,
    utc_time,
)
from httpbench.catalog.web_frameworks import NAME, PATHS
from httpbench.catalog.workload_names import find
from httpbench.errors import CatalogError
from httpbench.model import Distribution, Entry, Load, Measurement, Requests, Run, Scaling, Target, Trial, Workload
from httpbench.text import one_line

DURATION_MS_MAX = 1e6
"""Upper bound of the duration of a load in milliseconds, and lower bound of its duration in µs."""
DURATION_US_MAX = 8.64e10
"""Maximum duration of a load in µs: a day."""
ERRORS = {
    "http_errors": "unexpected_status",
    "request_timeouts": "timeout",
    "socket_connection_errors": "connect_other",
    "socket_read_errors": "reset",
    "socket_write_errors": "reset",
}
"""httpbench's kind of error for each counter."""
LATENCIES = {
    "minimum_latency": "min",
    "average_latency": "mean",
    "standard_deviation": "stddev",
    "maximum_latency": "max",
    "percentile_50": "p50",
    "percentile_75": "p75",
    "percentile_90": "p90",
    "percentile_99": "p99",
}
"""Field of :class:`Distribution` for each latency. Later files omit the underscore in the names of percentiles."""
UNMEASURED = -1.0
LARGEST = 1e19
"""Largest value. Some files contain times of −3e18 µs, which must stay visible."""
Values = dict[str, float]


class _Units(NamedTuple):
    """The method of a file, from which its units follow."""

    latency_us: float
    duration_s: float
    generator: str
    keepalive: bool


WRK = _Units(1.0, 1e-6, "wrk", keepalive=True)
LATER = _Units(1e6, 1e-3, UNKNOWN, keepalive=False)


class _Part(BaseModel):
    """Base class for the parts of the file. Keys that httpbench doesn't use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Framework(_Part):
    id: int
    label: str = Field(min_length=1)
    language: str = Field(min_length=1)


class _Metric(_Part):
    level: int = Field(ge=1, le=1_000_000)
    label: str
    value: float | None = Field(ge=-LARGEST, le=LARGEST)
    framework_id: int


class _Published(_Part):
    metrics: tuple[_Metric, ...] = Field(min_length=1)
    frameworks: tuple[_Framework, ...] = Field(min_length=1)
    updated_at: str
    cpu: str | None = Field(default=None, validation_alias=AliasPath("hardware", "cpu_name"))
    system: str | None = Field(default=None, validation_alias=AliasPath("hardware", "os", "sysname"))
    kernel: str | None = Field(default=None, validation_alias=AliasPath("hardware", "os", "release"))


def read_results(path: Path, workloads: Mapping[str, Workload], command: Sequence[str], name: str | None) -> tuple[Run, list[Trial]]:
    """Return the run and its trials. Raises :class:`CatalogError` with one sentence if the file isn't a ``data.json``."""
    try:
        data = read_published_json(path)
        published = _Published.model_validate(data)
        rows = list(_rows(published, find(workloads, ",".join(f"{workload}:1" for workload in PATHS))))
        updated = datetime.strptime(published.updated_at, "%Y-%m-%d %H:%M:%S UTC").replace(tzinfo=UTC)
    except ValidationError as error:
        raise _wrong(path, sentences(_Published, error)[0]) from None
    except ValueError as error:  # also raised for binary data
        raise _wrong(path, one_line(str(error))) from None
    if not rows:
        raise CatalogError([f"{path}: contains no results"])
    return published_run(
        NAME,
        rows,
        key=digest(data["metrics"]),
        started_at=utc_time(updated),
        environment=published_environment(published.cpu, kernel=published.kernel, system=published.system),
        command=command,
        name=name,
    )


def _wrong(path: Path, problem: str) -> CatalogError:
    return CatalogError([f"{path} is not a data.json of {NAME}: {problem}"])


def _rows(published: _Published, workload: Workload) -> Iterator[PublishedRow]:
    """Yield a row for each framework and level with a throughput. Raises :class:`ValueError` if the file contradicts itself."""
    targets: dict[int, Target] = {}
    for framework in published.frameworks:
        target = _target(framework)
        if framework.id in targets or target.id in (other.id for other in targets.values()):
            raise ValueError(f"frameworks: a second framework with the id {framework.id} or the name {framework.label}")
        targets[framework.id] = target
    values: dict[tuple[int, int], Values] = defaultdict(dict)
    for position, metric in enumerate(published.metrics):
        if metric.framework_id not in targets:
            raise ValueError(f"metrics.{position}.framework_id: no framework has the id {metric.framework_id}")
        known = values[metric.level, metric.framework_id]
        if metric.label in known:
            raise ValueError(f"metrics.{position}: a second {metric.label} of framework {metric.framework_id} at level {metric.level}")
        known[metric.label] = UNMEASURED if metric.value is None else metric.value
    durations = [known["duration_ms"] for known in values.values() if known.get("duration_ms", 0) > 0]
    if not durations:
        raise ValueError("metrics: no framework has a duration_ms")
    usual = statistics.median(durations)
    if usual > DURATION_US_MAX:
        raise ValueError(f"metrics: a duration_ms of {usual:g} is too long")
    units = WRK if usual > DURATION_MS_MAX else LATER
    for (level, number), known in sorted(values.items()):
        if known.get("total_requests_per_s", 0) > 0 and known.get("duration_ms", 0) > 0:
            load = Load(connections=level, keepalive=units.keepalive, duration_s=max(round(usual * units.duration_s), 1), warmup_s=0)
            yield PublishedRow(targets[number], workload, load, _measurement(known, units))


def _measurement(known: Values, units: _Units) -> Measurement:
    duration_s, throughput = known["duration_ms"] * units.duration_s, known["total_requests_per_s"]
    total = known.get("total_requests", UNMEASURED)
    completed = round(total if total > 0 else throughput * duration_s)
    errors: dict[str, int] = {}
    for label, kind in ERRORS.items():
        errors[kind] = errors.get(kind, 0) + max(round(known.get(label, 0)), 0)
    times = {field: value for label, field in LATENCIES.items() if (value := _time_us(known, label, units)) is not None}
    return Measurement(
        generator=units.generator,
        generator_version="published",
        duration_s=duration_s,
        requests=Requests(completed=completed, ok=max(completed - errors["unexpected_status"], 0)),
        errors=nonzero(errors),
        counts_errors=any(known.get(label, UNMEASURED) >= 0 for label in ERRORS),
        throughput_rps=throughput,
        service_time_us=Distribution(count=completed, **times) if times else None,
    )


def _time_us(known: Values, label: str, units: _Units) -> float | None:
    value = known.get(label, known.get(label.replace("_", "") if label.startswith("percentile") else label, UNMEASURED))
    return None if value in (UNMEASURED, 0) else value * units.latency_us


def _target(framework: _Framework) -> Target:
    """Return a target with the id that it has in a clone, but without its engine, which the file doesn't state."""
    entry = Entry(catalogue=NAME, name=framework.label, display_name=framework.label)
    return foreign_target(entry, framework.language, framework.label, scaling=(Scaling.MULTI,), folder="")
