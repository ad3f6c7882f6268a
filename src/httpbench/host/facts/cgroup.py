"""The limits of our control groups: CPU time and memory, for both versions of the interface.

A limit of any group between ours and the root applies, so all are read and the smallest counts. In a container the visible root is the
container's own group. Where both versions are mounted, version 1 has the controllers, so that is read.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from httpbench.host.kernel_files import read_int, read_text

MOUNT = Path("sys/fs/cgroup")
Number = TypeVar("Number", int, float)
UNLIMITED_BYTES = 1 << 62  # version 1 writes «no limit» as a number close to 2⁶³


@dataclass(frozen=True, slots=True)
class Limits:
    """What our control groups allow; ``None``: no limit."""

    version: int | None
    """1 or 2; ``None`` where control groups are not mounted."""
    cpu_cores: float | None
    """CPU time, in cores."""
    memory_bytes: int | None


def read_limits(root: Path = Path("/")) -> Limits:
    """The limits of this process."""
    groups = _groups(root)
    if (root / MOUNT / "cgroup.controllers").exists():
        folders = list(_upwards(root / MOUNT, groups.get("", "/")))
        return Limits(2, _least(_quota_2(folder) for folder in folders), _least(_memory_2(folder) for folder in folders))
    if not any((root / MOUNT / controller).exists() for controller in ("cpu", "memory")):
        return Limits(None, None, None)
    cpu = _upwards(root / MOUNT / "cpu", groups.get("cpu", "/"))
    memory = _upwards(root / MOUNT / "memory", groups.get("memory", "/"))
    return Limits(1, _least(_quota_1(folder) for folder in cpu), _least(_memory_1(folder) for folder in memory))


def _groups(root: Path) -> dict[str, str]:
    """Controller → path of our group below its mount; version 2 has the empty name."""
    groups = {}
    for line in (read_text(root / "proc/self/cgroup") or "").splitlines():
        _, controllers, path = line.split(":", 2)
        groups.update(dict.fromkeys(controllers.split(","), path))
    return groups


def _upwards(mount: Path, group: str) -> Iterator[Path]:
    folder = mount / group.lstrip("/")
    yield folder
    while folder != mount:
        folder = folder.parent
        yield folder


def _least(values: Iterator[Number | None]) -> Number | None:
    return min((value for value in values if value is not None), default=None)


def _quota_2(folder: Path) -> float | None:
    quota, _, period = (read_text(folder / "cpu.max") or "max").partition(" ")
    return None if quota == "max" else int(quota) / int(period or 100_000)


def _memory_2(folder: Path) -> int | None:
    return read_int(folder / "memory.max")  # «max» is not a number


def _quota_1(folder: Path) -> float | None:
    quota, period = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")
    return quota / period if quota and period and quota > 0 else None


def _memory_1(folder: Path) -> int | None:
    limit = read_int(folder / "memory.limit_in_bytes")
    return limit if limit and limit < UNLIMITED_BYTES else None
