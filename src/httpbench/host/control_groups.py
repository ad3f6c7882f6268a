"""The control groups of a process, for both versions of the kernel's interface.

With version 1, a process has one group per controller; with version 2, it has a single group. ``/proc/PID/cgroup`` lists the groups as
paths relative to the root of their hierarchy. ``/proc/self/mountinfo`` lists the mount point of each hierarchy, and which folder of the
hierarchy is mounted there. The files of a removed group are missing. Every ancestor of a group can limit the group's processes, so limits
are read from all visible ancestors.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from httpbench.host.kernel_files import cpu_list, read_int, read_text

CONTROLLERS = ("freezer", "cpu", "cpuacct", "cpuset", "memory")  # the last one that is mounted decides the version
UNLIMITED_BYTES = 1 << 62  # version 1 writes "no limit" as a number close to 2⁶³


@dataclass(frozen=True, slots=True)
class ControlGroups:
    """The groups of one process, by controller. With version 2, all controllers share one group. Unmounted controllers are missing."""

    folders: Mapping[str, Path]
    mounts: Mapping[str, Path]
    """Mount point of each controller's hierarchy."""
    version: int

    def levels(self) -> Iterator[ControlGroups]:
        """Yield this group and its visible ancestors, starting with this group."""
        level = self
        while level.folders:
            yield level
            below = {name: folder for name, folder in level.folders.items() if self.mounts[name] in folder.parents}
            level = replace(level, folders={name: folder.parent for name, folder in below.items()})

    def pids(self) -> list[int]:
        """Return the processes in the group."""
        return [int(word) for word in (read_text(self.folder("cpu", "memory", "cpuacct") / "cgroup.procs") or "").split()]

    def cpu_s(self) -> float | None:
        """Return the CPU time, in seconds, that processes in the group have used since its creation."""
        if self.version == 2:
            usage_us = self._counts().get("usage_usec")
            return None if usage_us is None else usage_us / 1e6
        usage_ns = read_int(self.folder("cpuacct", "cpu") / "cpuacct.usage")
        return None if usage_ns is None else usage_ns / 1e9

    def periods(self) -> int | None:
        """Return the number of periods of the CPU limit in which a process of the group was ready to run."""
        return self._counts().get("nr_periods")

    def throttled_periods(self) -> int | None:
        """Return the number of periods in which the group used up its CPU limit."""
        return self._counts().get("nr_throttled")

    def throttled_s(self) -> float | None:
        """Return how long the group was throttled by its CPU limit, in seconds, or ``None`` if the kernel doesn't report it."""
        counts = self._counts()
        if "throttled_usec" in counts:
            return counts["throttled_usec"] / 1e6
        return counts["throttled_time"] / 1e9 if "throttled_time" in counts else None

    def cpus(self) -> float | None:
        """Return the lowest CPU limit of the group and its ancestors, in cores, or ``None`` if none of them has a limit."""
        return min((limit for level in self.levels() if (limit := _cpus_of(level.folder("cpu"))) is not None), default=None)

    def memory_bytes(self) -> int | None:
        """Return the lowest memory limit of the group and its ancestors, in bytes, or ``None`` if none of them has a limit."""
        name = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        limits = (read_int(level.folder("memory") / name) for level in self.levels())  # "max" isn't a number
        return min((limit for limit in limits if limit and limit < UNLIMITED_BYTES), default=None)

    def memory_bytes_peak(self) -> int | None:
        """Return the group's peak memory in bytes, including page cache, or ``None`` if the kernel doesn't report it."""
        return read_int(self.folder("memory") / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"))

    def cpuset(self) -> tuple[int, ...]:
        """Return the logical CPUs that the group's processes may use, or an empty tuple if they are unknown."""
        names = ("cpuset.cpus.effective",) if self.version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
        return next((cpus for name in names if (cpus := cpu_list(read_text(self.folder("cpuset") / name) or ""))), ())

    def oom_kills(self) -> int | None:
        """Return how many of the group's processes the kernel killed for lack of memory, or ``None`` if the kernel doesn't report it."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _pairs(self.folder("memory") / name).get("oom_kill")

    def entrances(self, *controllers: str) -> list[Path]:
        """Return the files of the group that accept a process id and move that process into the group."""
        return list(dict.fromkeys(self.folders[name] / "cgroup.procs" for name in controllers if name in self.folders))

    def freezer(self) -> Path | None:
        """Return the file that freezes the group, or ``None`` if there is no such file or we may not write to it."""
        files = (self.folder("freezer") / name for name in ("cgroup.freeze", "freezer.state"))
        return next((file for file in files if os.access(file, os.W_OK)), None)

    def freezes(self, other: ControlGroups) -> bool:
        """Return whether freezing this group also freezes ``other``, that is, whether ``other`` is this group or one below it."""
        own, folder = self.folder("freezer"), other.folder("freezer")
        return own == folder or own in folder.parents

    def folder(self, *controllers: str) -> Path:
        """Return the group's folder for the first of these controllers that is mounted, or a path that doesn't exist."""
        return next((self.folders[name] for name in controllers if name in self.folders), Path("/nonexistent"))

    def _counts(self) -> dict[str, int]:
        return _pairs(self.folder("cpu") / "cpu.stat")


def groups_of(pid: int | str = "self", root: Path = Path("/")) -> ControlGroups | None:
    """Return the control groups of a process, or ``None`` if it is gone or no control groups are mounted."""
    return next(iter(distinct_groups([pid], root)), None)


def distinct_groups(pids: Iterable[int | str], root: Path = Path("/")) -> list[ControlGroups]:
    """Return the distinct control groups of several processes. Processes of one program usually share a group."""
    texts = dict.fromkeys(text for pid in pids if (text := read_text(root / f"proc/{pid}/cgroup")))
    mounted = dict(_mounted(root)) if texts else {}
    return [groups for text in texts if (groups := _groups(text, mounted))]


def _groups(text: str, mounted: Mapping[str, tuple[str, Path]]) -> ControlGroups | None:
    """Resolve the lines of ``/proc/PID/cgroup`` to mounted folders."""
    paths: dict[str, str] = {}
    for line in text.splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    folders, mounts, version = {}, {}, 1
    for controller in CONTROLLERS:
        name = controller if controller in paths and controller in mounted else ""
        if name not in paths or name not in mounted:
            continue
        origin, mount = mounted[name]
        if (folder := _below(paths[name], origin, mount)) is not None:
            folders[controller], mounts[controller] = folder, mount
            version = 1 if name else 2
    return ControlGroups(folders, mounts, version) if folders else None


def _mounted(root: Path) -> Iterator[tuple[str, tuple[str, Path]]]:
    """Yield each controller's name (empty for version 2), with the mounted folder of its hierarchy and the mount point."""
    for line in (read_text(root / "proc/self/mountinfo") or "").splitlines():
        left, _, right = line.partition(" - ")
        kind, _, options = right.split(" ", 2)
        origin, mount = left.split(" ")[3:5]
        place = (origin, root / mount.lstrip("/"))
        if kind == "cgroup2":
            yield "", place
        elif kind == "cgroup":
            for option in options.split(","):
                yield option, place


def _below(path: str, origin: str, mount: Path) -> Path | None:
    """Return the folder of a group, or ``None`` if the group is outside the mounted part of the hierarchy."""
    if origin == "/":
        return mount / path.lstrip("/")
    if path != origin and not path.startswith(f"{origin}/"):
        return None
    return mount / path[len(origin) :].lstrip("/")


def _cpus_of(folder: Path) -> float | None:
    """Return the CPU limit of one group, in cores."""
    if text := read_text(folder / "cpu.max"):
        quota, _, period = text.partition(" ")
        return None if quota == "max" else int(quota) / int(period or 100_000)
    quota_us, period_us = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")  # -1: no limit
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _pairs(file: Path) -> dict[str, int]:
    pairs = (line.partition(" ") for line in (read_text(file) or "").splitlines())
    return {name: int(value) for name, _, value in pairs if value.strip().isdigit()}
