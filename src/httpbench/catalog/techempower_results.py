"""Read the results that TechEmpower publishes (``results.json``) as a run.

Each combination of framework, test and level (number of connections or rows) was measured once. The run has one
round with one trial for each combination, so there are no intervals and no verdicts. The latencies are those that wrk printed (mean,
standard deviation, maximum). CPU time and memory are unknown.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import AliasPath, BaseModel, ConfigDict, Field, ValidationError

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import foreign_target, json_data
from httpbench.catalog.techempower import NAME
from httpbench.catalog.workload_names import find
from httpbench.errors import CatalogError, SelectionError
from httpbench.model import (
    WARMUP_S_MAX,
    Build,
    Cores,
    Distribution,
    Entry,
    Environment,
    Load,
    Measurement,
    Requests,
    Run,
    RunStatus,
    Scaling,
    Target,
    Trial,
    TrialPlan,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.paths import id_part
from httpbench.text import one_line

ONE_REQUEST = ("json", "db", "fortune")
PIPELINED, PIPELINE = "plaintext", 16
US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}
ERRORS = {"5xx": "unexpected_status", "timeout": "timeout", "connect": "connect_other", "read": "reset", "write": "reset"}
"""httpbench's kind of error for each of wrk's error counters. The counter ``5xx`` includes every status other than 2xx and 3xx."""
NO_CORES = Cores(target=(), generator=(), harness=(), shared=False)
PUBLISHED = Verdict(kind=VerdictKind.UNKNOWN)
ENVIRONMENT_MAX = 200


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
    targets = {one.name: _target(one) for one in results.metadata}
    trials: list[Trial] = []
    used: dict[str, Workload] = {}
    for test, framework, level, raw in _measured(results, path):
        target = targets.setdefault(framework, _target(_Metadata(name=framework)))
        workload, load = _asked(results, test, level, path)
        used.setdefault(workload, find(workloads, workload))
        plan = TrialPlan(
            number=len(trials),
            round=0,
            target=target.id,
            scaling=Scaling.MULTI,
            workload=workload,
            load=load,
            load_generator="wrk",
            cores=NO_CORES,
        )
        measurement = _measurement(raw, results.duration_s)
        trials.append(Trial(plan=plan, started_at=_time(results.start_ms), verdict=PUBLISHED, measurement=measurement))
    if not trials:
        raise CatalogError([f"{path}: contains no results"])
    chosen = {trial.plan.target for trial in trials}
    run = Run(
        id=f"{_time(results.start_ms)[:19].replace(':', '').replace('-', '')}-{id_part(results.uuid)[:8]}",
        started_at=_time(results.start_ms),
        finished_at=_time(results.end_ms) if results.end_ms else None,
        status=RunStatus.FINISHED,
        command=tuple(command),
        environment=_environment(results),
        plan=tuple(trial.plan for trial in trials),
        targets={target.id: target for target in targets.values() if target.id in chosen},
        workloads=used,
        name=name,
        published=NAME,
    )
    return run, trials


def _results(path: Path) -> _Results:
    try:
        return _Results.model_validate(json_data(path.read_text(encoding="utf-8-sig")))
    except OSError as error:
        raise CatalogError([f"{path}: cannot read the file: {error.strerror}"]) from None
    except ValidationError as error:
        raise _wrong(path, sentences(_Results, error)[0]) from None
    except (ValueError, RecursionError) as error:  # also raised for binary data
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
    times = {name: _us(raw.get(key)) for name, key in (("mean", "latencyAvg"), ("stddev", "latencyStdev"), ("max", "latencyMax"))}
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
    return value if isinstance(value, int) and value > 0 else 0


def _us(text: object) -> float | None:
    """Convert text such as ``1.21ms`` to µs. Returns ``None`` for any other text."""
    found = re.fullmatch(r"([0-9]+(?:\.[0-9]+)?)(us|ms|s|m|h)", text) if isinstance(text, str) else None
    return float(found[1]) * US[found[2]] if found else None


def _target(one: _Metadata) -> Target:
    """Return a target with the id that it would have in a clone, assuming that folders have their usual names."""
    project = one.project_name or one.framework or one.name
    variant = None if one.name == project else one.name.removeprefix(f"{project}-")
    entry = Entry(catalogue=NAME, name=one.name, display_name=one.display_name or one.name)
    return foreign_target(entry, one.language or "unknown", project, variant, build=Build(), scaling=(Scaling.MULTI,), folder="")


def _environment(results: _Results) -> Environment:
    """Return the environment. Most of it is unknown, because the file describes the machine only in one line of text."""
    return Environment(
        hostname="published",
        cpu_model=one_line(results.environment or "unknown")[:ENVIRONMENT_MAX],
        cpus_online=0,
        cpus_allowed=(),
        smt=None,
        governor=None,
        turbo=None,
        mitigations={},
        memory_bytes=0,
        kernel=results.kernel or "unknown",
        os=results.system or "unknown",
        virtualization=None,
        load_average_1m=0.0,
        open_files_limit=0,
        cgroup_version=None,
        git_commit=results.commit,
        httpbench_version="none",
        versions={},
    )


def _time(ms: int) -> str:
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    except (OverflowError, ValueError, OSError):
        raise CatalogError([f"startTime or completionTime: {ms} is not a time in milliseconds"]) from None
