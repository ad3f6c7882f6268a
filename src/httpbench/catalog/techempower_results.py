"""Read the results that TechEmpower publishes (``results.json``) as a run.

Each combination of framework, test and level (number of connections or rows) was measured once. The run has one
round with one trial for each combination, so there are no intervals and no verdicts. The latencies are those that wrk printed (mean,
standard deviation, maximum). CPU time and memory are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import foreign_target
from httpbench.catalog.imported import COUNT_MAX, PublishedRow, published_environment, published_run, read_published_json, time_us, utc_time
from httpbench.catalog.techempower import NAME
from httpbench.catalog.workload_names import find
from httpbench.errors import CatalogError, SelectionError
from httpbench.model import WARMUP_S_MAX, Build, Distribution, Entry, Load, Measurement, Requests, Run, Scaling, Target, Trial, Workload
from httpbench.text import one_line

ONE_REQUEST = ("json", "db", "fortune")
PIPELINED, PIPELINE = "plaintext", 16
ERRORS = {"5xx": "unexpected_status", "timeout": "timeout", "connect": "connect_other", "read": "reset", "write": "reset"}
"""httpbench's kind of error for each of wrk's error counters. The counter ``5xx`` includes every status other than 2xx and 3xx."""


class _Known(BaseModel):
    """Base class for the parts of a ``results.json`` file. Keys that httpbench doesn't use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Metadata(_Known):
    name: str
    project_name: str | None = None
    framework: str | None = None
    language: str | None = None
    display_name: str | None = None


Levels = tuple[int, ...]


class _Results(_Known):
    uuid: str
    name: str | None = None
    environment: str | None = Field(default=None, alias="environmentDescription")
    commit: str | None = Field(default=None, validation_alias=AliasPath("git", "commitId"))
    system: str | None = Field(default=None, validation_alias=AliasPath("operatingSystem", "name"))
    kernel: str | None = Field(default=None, validation_alias=AliasPath("operatingSystem", "version"))
    start_ms: int = Field(alias="startTime", ge=0)
    end_ms: int | None = Field(default=None, alias="completionTime", ge=0)
    concurrency: Levels = Field(alias="concurrencyLevels", min_length=1)
    pipelined: Levels = Field(default=(), alias="pipelineConcurrencyLevels")
    queries: Levels = Field(default=(), alias="queryIntervals")
    cached: Levels = Field(default=(), alias="cachedQueryIntervals")
    duration_s: int = Field(alias="duration", ge=1, le=WARMUP_S_MAX)
    raw: dict[str, Any] = Field(alias="rawData")
    metadata: tuple[_Metadata, ...] = Field(default=(), alias="testMetadata")

    @property
    def rows(self) -> dict[str, Levels]:
        """Numbers of rows per request in the database tests, by test."""
        return {"query": self.queries, "update": self.queries, "cached-query": self.cached}

    @property
    def levels(self) -> dict[str, Levels]:
        """Levels of each test: numbers of connections, or numbers of rows per request."""
        return {**dict.fromkeys(ONE_REQUEST, self.concurrency), PIPELINED: self.pipelined, **self.rows}


def read_results(path: Path, workloads: Mapping[str, Workload], command: Sequence[str], name: str | None) -> tuple[Run, list[Trial]]:
    """Return the run and its trials. Raises :class:`CatalogError` with one sentence if the file isn't a ``results.json``."""
    results = _results(path)
    if problem := _beyond_the_model(results, workloads):
        raise _wrong(path, problem)
    rows = list(_rows(results, path, workloads))
    if not rows:
        raise CatalogError([f"{path}: contains no results"])
    return published_run(
        NAME,
        rows,
        key=results.uuid,
        started_at=_time(results.start_ms),
        finished_at=_time(results.end_ms) if results.end_ms else None,
        environment=published_environment(results.environment, kernel=results.kernel, system=results.system, commit=results.commit),
        command=command,
        name=name,
    )


def _rows(results: _Results, path: Path, workloads: Mapping[str, Workload]) -> Iterator[PublishedRow]:
    targets = {one.name: _target(one) for one in results.metadata}
    used: dict[str, Workload] = {}
    for test, framework, level, raw in _measured(results, path):
        target = targets.setdefault(framework, _target(_Metadata(name=framework)))
        workload, load = _asked(results, test, level, path)
        yield PublishedRow(target, used.setdefault(workload, find(workloads, workload)), load, _measurement(raw, results.duration_s))


def _results(path: Path) -> _Results:
    try:
        return _Results.model_validate(read_published_json(path))
    except ValidationError as error:
        raise _wrong(path, sentences(_Results, error)[0]) from None
    except ValueError as error:  # also raised for binary data
        raise _wrong(path, one_line(str(error))) from None


def _wrong(path: Path, problem: str) -> CatalogError:
    return CatalogError([f"{path} is not a results.json of TechEmpower's program: {problem}"])


def _beyond_the_model(results: _Results, workloads: Mapping[str, Workload]) -> str | None:
    """Return a problem with the levels that :class:`_Results` doesn't detect, or ``None``."""
    if wrong := [level for level in (*results.concurrency, *results.pipelined) if not 1 <= level <= 1_000_000]:
        return f"{wrong[0]} is not a number of connections"
    try:
        for test, levels in results.rows.items():
            for rows in levels:
                find(workloads, f"{test}-{rows}")
    except SelectionError as error:
        return error.message
    return None


def _measured(results: _Results, path: Path) -> Iterator[tuple[str, str, int, Mapping[str, Any]]]:
    """Yield the test, framework, level index and counters of each result. Levels without requests are skipped."""
    for key, of_test in results.raw.items():
        test = key.replace("_", "-")
        if test not in results.levels:
            continue  # other data, such as source sizes or commit counts
        if not isinstance(of_test, dict) or not all(isinstance(levels, list) for levels in of_test.values()):
            raise _wrong(path, f"rawData.{key}: must hold an array for each framework")
        for framework, levels in of_test.items():
            for number, raw in enumerate(levels):
                if isinstance(raw, dict) and _count(raw, "totalRequests"):
                    yield test, framework, number, raw


def _asked(results: _Results, test: str, number: int, path: Path) -> tuple[str, Load]:
    """Return the workload's name and the load for one level of a test."""
    levels, has_rows = results.levels[test], test in results.rows
    if number >= len(levels):
        raise _wrong(path, f"{test} has more results than levels")
    connections = max(results.concurrency) if has_rows else levels[number]
    pipeline = PIPELINE if test == PIPELINED else 1
    load = Load(connections=connections, pipeline=pipeline, duration_s=results.duration_s, warmup_s=results.duration_s, timeout_s=8)
    return f"{test}-{levels[number]}" if has_rows else test, load


def _measurement(raw: Mapping[str, Any], duration_s: float) -> Measurement:
    """Return the measurement of one level. As in TechEmpower's own tables, throughput is based on the nominal duration."""
    total = _count(raw, "totalRequests")
    ok = max(total - _count(raw, "5xx"), 0)
    errors: dict[str, int] = {}
    for key, kind in ERRORS.items():
        if count := _count(raw, key):
            errors[kind] = errors.get(kind, 0) + count
    times = {name: time_us(raw.get(key)) for name, key in (("mean", "latencyAvg"), ("stddev", "latencyStdev"), ("max", "latencyMax"))}
    return Measurement(
        generator="wrk",
        generator_version="published",
        duration_s=duration_s,
        requests=Requests(completed=total, ok=ok),
        errors=errors,
        throughput_rps=ok / duration_s,
        service_time_us=Distribution(count=total, **times) if times["mean"] is not None else None,
    )


def _count(raw: Mapping[str, Any], key: str) -> int:
    value = raw.get(key)
    return value if isinstance(value, int) and 0 < value <= COUNT_MAX else 0


def _target(one: _Metadata) -> Target:
    """Return a target with the id that it would have in a clone, assuming that folders have their usual names."""
    project = one.project_name or one.framework or one.name
    variant = None if one.name == project else one.name.removeprefix(f"{project}-")
    entry = Entry(catalogue=NAME, name=one.name, display_name=one.display_name or one.name)
    return foreign_target(entry, one.language or "unknown", project, variant, build=Build(), scaling=(Scaling.MULTI,), folder="")


def _time(ms: int) -> str:
    try:
        return utc_time(datetime.fromtimestamp(ms / 1000, UTC))
    except (OverflowError, ValueError, OSError):
        raise CatalogError([f"startTime or completionTime: {ms} is not a time in milliseconds"]) from None
