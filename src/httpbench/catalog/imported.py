"""Helpers for the readers of published results.

A published figure was measured once, under unknown conditions. Such a run has one round, no intervals and no verdicts, and most of its
environment is unknown.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from httpbench.catalog.foreign import json_data
from httpbench.errors import CatalogError
from httpbench.model import (
    Cores,
    Environment,
    Load,
    Measurement,
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
from httpbench.paths import id_part, read_foreign
from httpbench.text import one_line

UNKNOWN = "unknown"
"""Name of a load generator or language that the published results don't state."""
COUNT_MAX = 10**15
"""Maximum number of requests or errors in published results."""
ENVIRONMENT_MAX = 200
PUBLISHED_BYTES_MAX = 32 << 20
"""Maximum size of a file with published results, in bytes."""
IMPORT_BYTES_MAX = 64 << 20
"""Maximum size of all files of an import together, in bytes."""
IMPORT_VALUES_MAX = 4_000_000
"""Maximum number of values in all files of an import together. Python needs up to 100 bytes for each."""
US = {"us": 1.0, "ms": 1e3, "s": 1e6, "m": 6e7, "h": 3.6e9}

_NO_CORES = Cores(target=(), generator=(), harness=(), shared=False)
_PUBLISHED = Verdict(kind=VerdictKind.UNKNOWN)


@dataclass(slots=True)
class Budget:
    """What the files of one import may still contain."""

    bytes_left: int = IMPORT_BYTES_MAX
    values_left: int = IMPORT_VALUES_MAX

    def spend(self, content: bytes, path: Path) -> None:
        """Subtract a file. Raises :class:`CatalogError` if the files are too large together."""
        self.bytes_left -= len(content)
        self.values_left -= sum(map(content.count, (b"{", b"[", b",")))
        if self.bytes_left < 0:
            raise CatalogError([f"{path}: the files of this import are larger than {IMPORT_BYTES_MAX >> 20} MiB together"])
        if self.values_left < 0:
            raise CatalogError([f"{path}: the files of this import have more than {IMPORT_VALUES_MAX:,} values together"])


@dataclass(frozen=True, slots=True)
class PublishedRow:
    """One target under one load in published results."""

    target: Target
    workload: Workload
    load: Load
    measurement: Measurement


def published_run(
    project: str,
    rows: Iterable[PublishedRow],
    *,
    key: str,
    started_at: str,
    finished_at: str | None = None,
    environment: Environment,
    command: Sequence[str],
    name: str | None,
) -> tuple[Run, list[Trial]]:
    """Return a run with one trial for each row, in their order.

    Args:
        project: Name of the project that published the results.
        rows: The results.
        key: A text that differs between the results of one project. The end of the run's id is made from it.
        started_at: Time of the results in ISO 8601 format. The beginning of the run's id is made from it.
        finished_at: Time when the measurements ended. ``None``: unknown.
        environment: What is known of the machine; see :func:`published_environment`.
        command: The command that imports the results.
        name: Name of the run. ``None``: none.
    """
    trials: list[Trial] = []
    targets: dict[str, Target] = {}
    workloads: dict[str, Workload] = {}
    for row in rows:
        targets.setdefault(row.target.id, row.target)
        workloads.setdefault(row.workload.name, row.workload)
        plan = TrialPlan(
            number=len(trials),
            round=0,
            target=row.target.id,
            scaling=Scaling.MULTI,
            workload=row.workload.name,
            load=row.load,
            load_generator=row.measurement.generator,
            cores=_NO_CORES,
        )
        trials.append(Trial(plan=plan, started_at=started_at, verdict=_PUBLISHED, measurement=row.measurement))
    run = Run(
        id=f"{started_at[:19].replace(':', '').replace('-', '')}-{id_part(key)[:8]}",
        started_at=started_at,
        finished_at=finished_at,
        status=RunStatus.FINISHED,
        command=tuple(command),
        environment=environment,
        plan=tuple(trial.plan for trial in trials),
        targets=targets,
        workloads=workloads,
        name=name,
        published=project,
    )
    return run, trials


def published_environment(machine: str | None, *, kernel: str | None, system: str | None, commit: str | None = None) -> Environment:
    """Return an environment of which only a description of the machine, its system and the commit of the results can be known."""
    return Environment(
        hostname="published",
        cpu_model=one_line(machine or UNKNOWN)[:ENVIRONMENT_MAX],
        cpus_online=0,
        cpus_allowed=(),
        smt=None,
        governor=None,
        turbo=None,
        mitigations={},
        memory_bytes=0,
        kernel=one_line(kernel or UNKNOWN)[:ENVIRONMENT_MAX],
        os=one_line(system or UNKNOWN)[:ENVIRONMENT_MAX],
        virtualization=None,
        load_average_1m=0.0,
        open_files_limit=0,
        cgroup_version=None,
        git_commit=commit,
        httpbench_version="none",
        versions={},
    )


def read_published_json(path: Path, folder: Path | None = None, budget: Budget | None = None) -> Any:
    """Return the contents of a JSON file, named by the user or found in ``folder``. All files of an import share a ``budget``.

    Raises :class:`CatalogError` if it can't be read or is too large, or :class:`ValueError` if it isn't JSON.
    """
    try:
        content = read_foreign(path, folder, PUBLISHED_BYTES_MAX)
        (budget or Budget()).spend(content, path)
        return json_data(content)
    except OSError as error:
        raise CatalogError([f"{path}: cannot read the file: {error.strerror}"]) from None
    except RecursionError:
        raise ValueError("the values are nested too deeply") from None


def digest(*contents: Any) -> str:
    """Return a text that is equal for equal contents of JSON files."""
    return hashlib.sha256(repr(contents).encode()).hexdigest()


def utc_time(moment: datetime) -> str:
    """Format a time in UTC and ISO 8601, with milliseconds."""
    return moment.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_us(text: object) -> float | None:
    """Convert text such as ``1.21ms`` to µs. Returns ``None`` for any other text."""
    found = re.fullmatch(r"([0-9]{1,15}(?:\.[0-9]+)?)(us|ms|s|m|h)", text) if isinstance(text, str) else None
    return float(found[1]) * US[found[2]] if found else None


def nonzero(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts without those that are 0."""
    return {kind: count for kind, count in counts.items() if count}
