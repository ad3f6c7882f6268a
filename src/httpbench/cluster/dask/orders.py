"""The orders and results of an agent. They travel between hosts, so they contain only plain data.

This module divides the connections, but not the rate. Each agent gets the rate of the whole load and its part of the schedule, so all parts
together form exactly the schedule of one load generator.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from httpbench.cluster.dask.results import PackedResult
from httpbench.errors import UsageError

BEAT_S = 0.5
"""Time between two heartbeats of an agent, in seconds."""


@dataclass(frozen=True, slots=True)
class Orders:
    """The part of a load that one agent generates."""

    token: str
    """Token that identifies the trial."""
    options: tuple[str, ...]
    """Options of the load generator. The agent replaces ``@@NAME`` with ``@`` and the path of the file NAME."""
    files: dict[str, bytes]
    """Files to write on the load host, by name."""
    limit_s: float
    """Time limit of the load generator, in seconds."""
    in_slices: bool = False
    """Whether the load generator measures in slices, on command."""


@dataclass(frozen=True, slots=True)
class AgentOutcome:
    """The outcome of an agent's load generator."""

    exit_code: int
    result: PackedResult | None
    """Result of the load generator, or ``None`` if it failed."""
    messages: str
    """The last lines of the load generator's standard error, without progress events."""


class Readiness(StrEnum):
    READY = "ready"
    ENDED = "ended"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """CPU count and versions of a load host."""

    hostname: str
    cpus: int
    """Number of CPUs available to the host's worker."""
    httpbench: str | None
    """Version of httpbench. ``None``: the host does not need it."""
    loadgen: str | None
    """Version of the host's load generator, or ``None`` if it is not installed."""


@dataclass(frozen=True, slots=True)
class Division:
    """The part of a load that one load host generates."""

    part: str
    """Number of the part and number of parts: ``3/8`` is the third of eight."""
    connections: int
    threads: int


def divided(connections: int, threads: int | None, cpus: Sequence[int]) -> list[Division]:
    """Divide a load among hosts, so that their numbers of connections differ by at most one.

    Args:
        connections: Connections of the whole load.
        threads: Threads of each load generator. ``None``: one per CPU.
        cpus: Number of CPUs of each load host.

    Raises:
        UsageError: There are fewer connections than load hosts.
    """
    hosts = len(cpus)
    if connections < hosts:
        raise UsageError(f"{hosts} load hosts require at least {hosts} connections", hint=f"use -c {hosts} or more")
    shares = [connections // hosts + (number < connections % hosts) for number in range(hosts)]
    return [
        Division(f"{number + 1}/{hosts}", share, min(threads or count, share))
        for number, (share, count) in enumerate(zip(shares, cpus, strict=True))
    ]


def packed(options: Sequence[str], scratch: Path) -> tuple[tuple[str, ...], dict[str, bytes]]:
    """Replace the paths of files in ``scratch`` with ``@@NAME`` in the options. Return the options, and the files' contents by name."""
    files: dict[str, bytes] = {}
    kept = []
    for option in options:
        path = Path(option.removeprefix("@"))
        if option.startswith("@") and path.parent == scratch.absolute():
            files[path.name] = path.read_bytes()
            option = f"@@{path.name}"
        kept.append(option)
    return tuple(kept), files


def unpacked(orders: Orders, folder: Path) -> list[str]:
    """Write the files of the orders into ``folder``; return the options with the paths of these files."""
    for name, content in orders.files.items():
        (folder / name).write_bytes(content)
    names = {f"@@{name}": f"@{folder / name}" for name in orders.files}
    return [names.get(option, option) for option in orders.options]
