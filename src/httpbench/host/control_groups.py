"""Where the control groups of a process are, for both versions of the interface.

A process has one group for each controller of version 1, and one group of version 2. ``/proc/PID/cgroup`` names them as paths below the
root of their hierarchy; ``/proc/self/mountinfo`` says where, and from which folder on, each hierarchy is mounted. Files are read as they
are: a group that has ended has none. A limit of any group between a process and the root applies to it, so limits are read of all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from httpbench.host.kernel_files import cpu_list, read_int, read_text

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
UNLIMITED_BYTES = 1 << 62  # version 1 writes «no limit» as a number close to 2⁶³


@dataclass(frozen=True, slots=True)
class ControlGroups:
    """The groups of one process, by controller; of version 2 the same one for all. A controller that is not mounted is missing."""

    folders: Mapping[str, Path]
    mounts: Mapping[str, Path]
    """Where the hierarchy of each controller is mounted."""
    version: int

    def levels(self) -> Iterator[ControlGroups]:
        """This group and those above it, as far as they can be seen: its own first."""
        level = self
        while level.folders:
            yield level
            below = {name: folder for name, folder in level.folders.items() if self.mounts[name] in folder.parents}
            level = replace(level, folders={name: folder.parent for name, folder in below.items()})

    def pids(self) -> list[int]:
        """The processes in the group."""
        return [int(word) for word in (read_text(self.folder("cpu", "memory", "cpuacct") / "cgroup.procs") or "").split()]

    def cpu_s(self) -> float | None:
        """CPU time of all processes that the group ever held, in seconds."""
        if self.version == 2:
            usage_us = self._counts().get("usage_usec")
            return None if usage_us is None else usage_us / 1e6
        usage_ns = read_int(self.folder("cpuacct", "cpu") / "cpuacct.usage")
        return None if usage_ns is None else usage_ns / 1e9

    def periods(self) -> int | None:
        """Periods of the CPU limit that have begun while a process could run."""
        return self._counts().get("nr_periods")

    def throttled_periods(self) -> int | None:
        """Those of its periods in which the CPU limit was used up."""
        return self._counts().get("nr_throttled")

    def throttled_s(self) -> float | None:
        """How long the CPU limit has stopped it, in seconds. ``None``: no limit."""
        counts = self._counts()
        if "throttled_usec" in counts:
            return counts["throttled_usec"] / 1e6
        return counts["throttled_time"] / 1e9 if "throttled_time" in counts else None

    def cpus(self) -> float | None:
        """The CPU limit, in cores: the lowest between the group and the root. ``None``: no limit."""
        return min((limit for level in self.levels() if (limit := _cpus_of(level.folder("cpu"))) is not None), default=None)

    def memory_bytes(self) -> int | None:
        """The memory limit: the lowest between the group and the root. ``None``: no limit."""
        name = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        limits = (read_int(level.folder("memory") / name) for level in self.levels())  # «max» is not a number
        return min((limit for limit in limits if limit and limit < UNLIMITED_BYTES), default=None)

    def memory_bytes_peak(self) -> int | None:
        """The most memory that the group has used, page cache included. ``None``: the kernel does not report it."""
        return read_int(self.folder("memory") / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"))

    def cpuset(self) -> tuple[int, ...]:
        """The logical CPUs on which its processes may run; empty: unknown."""
        names = ("cpuset.cpus.effective",) if self.version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
        return next((cpus for name in names if (cpus := cpu_list(read_text(self.folder("cpuset") / name) or ""))), ())

    def oom_kills(self) -> int | None:
        """How many of its processes the kernel killed because memory ran out. ``None``: the kernel does not report it."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _pairs(self.folder("memory") / name).get("oom_kill")

    def entrances(self, *controllers: str) -> list[Path]:
        """The files that move a process into the group, if its id is written to them."""
        return list(dict.fromkeys(self.folders[name] / "cgroup.procs" for name in controllers if name in self.folders))

    def folder(self, *controllers: str) -> Path:
        """Of the first of these controllers that is mounted; otherwise one that does not exist."""
        return next((self.folders[name] for name in controllers if name in self.folders), Path("/nonexistent"))

    def _counts(self) -> dict[str, int]:
        return _pairs(self.folder("cpu") / "cpu.stat")


def groups_of(pid: int | str = "self", root: Path = Path("/")) -> ControlGroups | None:
    """The control groups of a process; ``None`` if it is gone, or if none are mounted."""
    return next(iter(distinct_groups([pid], root)), None)


def distinct_groups(pids: Iterable[int | str], root: Path = Path("/")) -> list[ControlGroups]:
    """The control groups of several processes, each once: those of one program mostly share them."""
    texts = dict.fromkeys(text for pid in pids if (text := read_text(root / f"proc/{pid}/cgroup")))
    mounted = dict(_mounted(root)) if texts else {}
    return [groups for text in texts if (groups := _groups(text, mounted))]


def _groups(text: str, mounted: Mapping[str, tuple[str, Path]]) -> ControlGroups | None:
    """What ``/proc/PID/cgroup`` names, where it is mounted."""
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
    """Controller → the folder of its hierarchy that is mounted, and where; version 2 has the empty name."""
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
    """The folder of a group; ``None`` if it lies outside of what is mounted."""
    if origin == "/":
        return mount / path.lstrip("/")
    if path != origin and not path.startswith(f"{origin}/"):
        return None
    return mount / path[len(origin) :].lstrip("/")


def _cpus_of(folder: Path) -> float | None:
    """The CPU limit of one group, in cores."""
    if text := read_text(folder / "cpu.max"):
        quota, _, period = text.partition(" ")
        return None if quota == "max" else int(quota) / int(period or 100_000)
    quota_us, period_us = read_int(folder / "cpu.cfs_quota_us"), read_int(folder / "cpu.cfs_period_us")  # no limit: -1
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _pairs(file: Path) -> dict[str, int]:
    pairs = (line.partition(" ") for line in (read_text(file) or "").splitlines())
    return {name: int(value) for name, _, value in pairs if value.strip().isdigit()}
