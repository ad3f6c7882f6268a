"""Where a run was made: terms and their values."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from httpbench.model import Run
from httpbench.report.html.parts import Table

UNKNOWN = "unknown"


def facts(run: Run) -> list[tuple[str, str]]:
    """Of the machine and its state when the run began."""
    return list(_facts(run))


def versions(run: Run) -> Table:
    """Of toolchains and libraries."""
    found = run.environment.versions
    return Table.of("Versions", ["Name", "Version"], [[name, " ".join(version.split())] for name, version in sorted(found.items())])


def _facts(run: Run) -> Iterator[tuple[str, str]]:
    environment = run.environment
    yield "Command", shlex.join(run.command)
    yield "Machine", environment.hostname
    yield "CPU", f"{environment.cpu_model}, {environment.cpus_online} online, {len(environment.cpus_allowed)} allowed"
    yield "SMT", _switch(environment.smt)
    yield "Turbo", _switch(environment.turbo)
    yield "Governor", environment.governor or "none"
    yield "Memory", f"{environment.memory_bytes / 1e9:.1f} GB"
    yield "System", f"{environment.os}, kernel {environment.kernel}"
    yield "Virtual machine", environment.virtualization or "no"
    if environment.container:
        yield "Container", environment.container
    if environment.cpu_quota_cores is not None:
        yield "CPU quota", f"{environment.cpu_quota_cores:g} cores"
    yield "Load average", f"{environment.load_average_1m:g} when the run began"
    if environment.git_commit:
        yield "Commit", environment.git_commit
    if environment.tuning:
        yield "Knobs", ", ".join(f"{name} {value}" for name, value in environment.tuning.items())


def _switch(state: bool | None) -> str:
    return UNKNOWN if state is None else "on" if state else "off"
