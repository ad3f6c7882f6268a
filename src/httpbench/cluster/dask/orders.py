"""What an agent is told to do, and what it hands back. Both travel between hosts, so they hold plain data only."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from httpbench.cluster.dask.results import Result

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
    httpbench: str
    """Version of httpbench."""
    loadgen: str | None
    """Version of its load generator; ``None``: it is not installed."""


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
