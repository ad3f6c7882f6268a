"""What an agent is told to do, and what it hands back. Both travel between hosts, so they hold plain data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from httpbench.cluster.dask.results import Result
from httpbench.errors import UsageError

BEAT_S = 0.5
"""An agent says this often that it is there."""


@dataclass(frozen=True, slots=True)
class Orders:
    """One agent's part of one load."""

    token: str
    """Of the trial."""
    options: tuple[str, ...]
    """Of the load generator, without the program. ``@@NAME`` stands for ``@`` and the path of the file NAME."""
    files: dict[str, bytes]
    """Files to be written there, by name."""
    limit_s: float
    """How long the load generator may take in all."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """How an agent's load generator ended."""

    exit_code: int
    result: Result | None
    """``None``: it failed."""
    messages: str
    """The last lines of its standard error, without progress."""


class Readiness(StrEnum):
    READY = "ready"
    ENDED = "ended"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class HostFacts:
    """What a load host is."""

    hostname: str
    cpus: int
    """CPUs that its worker may use."""
    httpbench: str | None
    """Version of httpbench. ``None`` if the host does not need it."""
    loadgen: str | None
    """Version of its load generator; ``None``: it is not installed."""


@dataclass(frozen=True, slots=True)
class Division:
    """The part of one load host."""

    part: str
    """``3/8``: the third of eight."""
    connections: int
    threads: int


def divided(connections: int, threads: int | None, cpus: Sequence[int]) -> list[Division]:
    """The part of each load host, in their order. Shares of the connections differ by one at most, and sum up to ``connections``.

    ``threads``: of each load generator; ``None``: one for each of its CPUs. ``cpus``: the number of CPUs of each load host.
    Raises :class:`UsageError` if there are fewer connections than load hosts.
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
    """Options without paths into ``scratch``, and the files that these named."""
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
    """Writes the files into ``folder``; the options with their paths."""
    for name, content in orders.files.items():
        (folder / name).write_bytes(content)
    names = {f"@@{name}": f"@{folder / name}" for name in orders.files}
    return [names.get(option, option) for option in orders.options]
