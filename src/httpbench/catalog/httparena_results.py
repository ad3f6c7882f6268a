"""Read the results in a clone of HttpArena (``site/data/PROFILE-CONNECTIONS.json``) as a run.

Each file holds an array of rows, one for each framework. The rows contain no percentiles but the p99. HttpArena measures each row several
times and publishes the run with the highest throughput. The files don't state the number of streams of a connection with HTTP/2 or HTTP/3.
The load generators are those of ``scripts/lib/profiles.sh`` as of April 2026. CPU time and memory are not imported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import foreign_target
from httpbench.catalog.httparena import NAME, PATHS
from httpbench.catalog.imported import (
    COUNT_MAX,
    Budget,
    PublishedRow,
    digest,
    nonzero,
    published_environment,
    published_run,
    read_published_json,
    time_us,
    utc_time,
)
from httpbench.errors import CatalogError
from httpbench.model import Build, Distribution, Entry, Load, Measurement, Requests, Run, Scaling, Target, Trial, Workload
from httpbench.paths import id_part
from httpbench.text import one_line

DATA = "site/data"
FRAMEWORKS, MACHINE = "frameworks.json", "current.json"
PROFILE = re.compile(r"(?P<profile>[a-z0-9][a-z0-9-]*)-(?P<connections>[0-9]+)\.json")
HTTP2 = ("h2", "h2c", "grpc", "gateway", "production")
"""Parts of the names of profiles that use HTTP/2."""
WRK = ("static", "json-tls")
"""Profiles whose load generator is wrk."""


class _Part(BaseModel):
    """Base class for the parts of the files. Keys that httpbench doesn't use are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class _Row(_Part):
    framework: str = Field(min_length=1)
    language: str = Field(min_length=1)
    rps: float = Field(ge=0, le=COUNT_MAX)
    avg_latency: str = ""
    p99_latency: str = ""
    connections: int = Field(ge=1, le=1_000_000)
    duration: str = Field(pattern=r"^[1-9][0-9]{0,3}s$")
    pipeline: int = Field(default=1, ge=1, le=1024)
    reconnects: int = Field(default=0, ge=0, le=COUNT_MAX)
    status_2xx: int = Field(default=0, ge=0, le=COUNT_MAX)
    status_3xx: int = Field(default=0, ge=0, le=COUNT_MAX)
    status_4xx: int = Field(default=0, ge=0, le=COUNT_MAX)
    status_5xx: int = Field(default=0, ge=0, le=COUNT_MAX)


class _Machine(_Part):
    cpu: str | None = None
    os: str | None = None
    kernel: str | None = None


def read_results(clone: Path, workloads: Mapping[str, Workload], command: Sequence[str], name: str | None) -> tuple[Run, list[Trial]]:
    """Return the run and its trials. Raises :class:`CatalogError` with one sentence if the folder isn't a clone with valid results."""
    folder = clone / DATA
    found = sorted((path for path in folder.glob("*.json") if PROFILE.fullmatch(path.name)), key=_place)
    if not found:
        raise CatalogError(
            [f"{clone}: contains no {DATA}/PROFILE-CONNECTIONS.json; {NAME}:DIR requires a clone of github.com/MDA2AV/HttpArena"]
        )
    budget = Budget()
    folders = _folders(folder / FRAMEWORKS, clone, budget)
    contents = {path: _read(path, clone, budget) for path in found}
    rows = [row for path, data in contents.items() for row in _rows(path, data, workloads, folders)]
    if not rows:
        raise CatalogError([f"{folder}: contains no results"])
    machine = _machine(folder / MACHINE, clone, budget)
    return published_run(
        NAME,
        rows,
        key=digest(*contents.values()),
        started_at=utc_time(datetime.fromtimestamp(max(path.stat().st_mtime for path in found), UTC)),
        environment=published_environment(machine.cpu, kernel=machine.kernel, system=machine.os),
        command=command,
        name=name,
    )


def _place(path: Path) -> tuple[str, int]:
    found = PROFILE.fullmatch(path.name)
    assert found is not None
    return found["profile"], int(found["connections"])


def _read(path: Path, clone: Path, budget: Budget) -> Any:
    try:
        return read_published_json(path, clone, budget)
    except ValueError as error:  # also raised for binary data
        raise CatalogError([f"{path} is not JSON: {one_line(str(error))}"]) from None


def _folders(path: Path, clone: Path, budget: Budget) -> dict[str, str]:
    """Return the folder of each framework by its displayed name. Frameworks with a folder of the same name may be missing."""
    data = _read(path, clone, budget) if path.exists() else {}
    if not isinstance(data, dict):
        raise CatalogError([f"{path}: must be an object"])
    named = {name: entry.get("dir") for name, entry in data.items() if isinstance(entry, dict)}
    return {name: folder for name, folder in named.items() if isinstance(folder, str)}


def _machine(path: Path, clone: Path, budget: Budget) -> _Machine:
    try:
        return _Machine.model_validate(_read(path, clone, budget) if path.exists() else {})
    except ValidationError as error:
        raise CatalogError([f"{path}: {sentences(_Machine, error)[0]}"]) from None


def _rows(path: Path, data: Any, workloads: Mapping[str, Workload], folders: Mapping[str, str]) -> Iterator[PublishedRow]:
    """Yield the rows of a file that have a throughput."""
    if not isinstance(data, list):
        raise CatalogError([f"{path}: must be an array"])
    profile, seen = _place(path)[0], set()
    workload = _workload(profile, workloads)
    for position, raw in enumerate(data):
        try:
            row = _Row.model_validate(raw)
        except ValidationError as error:
            raise CatalogError([f"{path}: row {position + 1}: {sentences(_Row, error)[0]}"]) from None
        target = _target(row, folders)
        if (target.id, row.connections) in seen:
            raise CatalogError([f"{path}: row {position + 1}: a second row of {row.framework}"])
        seen.add((target.id, row.connections))
        if row.rps > 0:
            yield PublishedRow(target, workload, _load(profile, row), _measurement(profile, row))


def _workload(profile: str, workloads: Mapping[str, Workload]) -> Workload:
    """Return the workload of a profile. If httpbench has no such workload, its request and response are unknown."""
    known = PATHS.get(profile)
    name = f"{NAME}-{profile}"
    return workloads[known[0]] if known else Workload(name=name, description=f"HttpArena's test {profile}; its requests are not imported")


def _load(profile: str, row: _Row) -> Load:
    parts = profile.split("-")
    return Load(
        connections=row.connections,
        pipeline=row.pipeline,
        duration_s=_duration_s(row),
        warmup_s=0,
        http2=_generator(profile) == "h2load",
        tls="tls" in parts or "h2" in parts,
    )


def _generator(profile: str) -> str:
    """Return the name of the load generator of a profile."""
    parts = profile.split("-")
    if profile in WRK:
        return "wrk"
    if profile.startswith("stream-grpc"):
        return "ghz"
    if "h3" in parts:
        return "h2load-h3"
    return "h2load" if any(part in HTTP2 for part in parts) else "gcannon"


def _measurement(profile: str, row: _Row) -> Measurement:
    failed = row.status_3xx + row.status_4xx + row.status_5xx
    completed = row.status_2xx + failed
    mean, p99 = time_us(row.avg_latency), time_us(row.p99_latency)
    return Measurement(
        generator=_generator(profile),
        generator_version="published",
        duration_s=_duration_s(row),
        requests=Requests(completed=completed, ok=row.status_2xx),
        errors=nonzero({"unexpected_status": failed}),
        throughput_rps=row.rps,
        service_time_us=Distribution(count=completed, mean=mean, p99=p99) if mean is not None else None,
        connections_opened=row.connections + row.reconnects,
    )


def _duration_s(row: _Row) -> float:
    return float(row.duration.removesuffix("s"))


def _target(row: _Row, folders: Mapping[str, str]) -> Target:
    """Return a target with the id that it has in a clone."""
    folder = folders.get(row.framework, row.framework)
    entry = Entry(catalogue=NAME, name=folder, display_name=row.framework)
    return foreign_target(entry, row.language, id_part(folder), build=Build(), scaling=(Scaling.MULTI,), folder="")
