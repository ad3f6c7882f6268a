"""Where the control groups of a process are, for both versions of the interface.

A process has one group for each controller of version 1, and one group of version 2. ``/proc/PID/cgroup`` names them as paths below the
root of their hierarchy; ``/proc/self/mountinfo`` says where, and from which folder on, each hierarchy is mounted. Files are read as they
are: a group that has ended has none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
UNLIMITED_BYTES = 1 << 62  # version 1 writes «no limit» as a number close to 2⁶³


@dataclass(frozen=True, slots=True)
class ControlGroups:
    """The groups of one process, by controller; of version 2 the same one for all. A controller that is not mounted is missing."""

    folders: Mapping[str, Path]
    mounts: Mapping[str, Path]
    """Where the hierarchy of each controller is mounted."""
    version: int

    def pids(self) -> list[int]:
        """The processes in the group."""
        text = _text(self._folder("cpu", "memory", "cpuacct") / "cgroup.procs")
        return [int(word) for word in text.split()]

    def cpu_s(self) -> float | None:
        """CPU time of all processes that the group ever held, in seconds."""
        if self.version == 2:
            usage_us = self._pairs("cpu").get("usage_usec")
            return None if usage_us is None else usage_us / 1e6
        usage_ns = _number(self._folder("cpuacct", "cpu") / "cpuacct.usage")
        return None if usage_ns is None else usage_ns / 1e9

    def periods(self) -> int | None:
        """Periods of the CPU limit that have begun while a process could run."""
        return self._pairs("cpu").get("nr_periods")

    def cpus(self) -> float | None:
        """The CPU limit, in cores: the lowest between the group and the root. ``None``: no limit."""
        return min((limit for folder in self._upwards("cpu") if (limit := _cpus_of(folder)) is not None), default=None)

    def memory_bytes(self) -> int | None:
        """The memory limit: the lowest between the group and the root. ``None``: no limit."""
        name = "memory.max" if self.version == 2 else "memory.limit_in_bytes"
        limits = (_number(folder / name) for folder in self._upwards("memory"))
        return min((limit for limit in limits if limit is not None and limit < UNLIMITED_BYTES), default=None)

    def cpuset(self) -> tuple[int, ...]:
        """The logical CPUs on which its processes may run; empty: unknown."""
        folder = self._folder("cpuset")
        names = ("cpuset.cpus.effective",) if self.version == 2 else ("cpuset.effective_cpus", "cpuset.cpus")
        return next((cpus for name in names if (cpus := _cpu_list(_text(folder / name)))), ())

    def memory_bytes_peak(self) -> int | None:
        """The most memory that the group has used, page cache included. ``None``: the kernel does not report it."""
        return _number(self._folder("memory") / ("memory.peak" if self.version == 2 else "memory.max_usage_in_bytes"))

    def oom_kills(self) -> int | None:
        """How many of its processes the kernel killed because memory ran out. ``None``: the kernel does not report it."""
        name = "memory.events" if self.version == 2 else "memory.oom_control"
        return _pairs(self._folder("memory") / name).get("oom_kill")

    def throttled_s(self) -> float | None:
        """How long the CPU limit has stopped it, in seconds. ``None``: no limit."""
        pairs = self._pairs("cpu")
        if "throttled_usec" in pairs:
            return pairs["throttled_usec"] / 1e6
        return pairs["throttled_time"] / 1e9 if "throttled_time" in pairs else None

    def entrances(self, *controllers: str) -> list[Path]:
        """The files that move a process into the group, if its id is written to them."""
        return list(dict.fromkeys(self.folders[name] / "cgroup.procs" for name in controllers if name in self.folders))

    def _folder(self, *controllers: str) -> Path:
        return next((self.folders[name] for name in controllers if name in self.folders), Path("/nonexistent"))

    def _upwards(self, controller: str) -> Iterator[Path]:
        folder, mount = self.folders.get(controller), self.mounts.get(controller)
        while folder is not None and mount is not None:
            yield folder
            if folder == mount or mount not in folder.parents:
                return
            folder = folder.parent

    def _pairs(self, controller: str) -> dict[str, int]:
        return _pairs(self._folder(controller) / "cpu.stat")


def groups_of(pid: int, root: Path = Path("/")) -> ControlGroups | None:
    """The control groups of a process; ``None`` if it is gone, or if none are mounted."""
    paths: dict[str, str] = {}
    for line in _text(root / f"proc/{pid}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        paths.update(dict.fromkeys(controllers.split(","), path))
    mounted = dict(_mounted(root))
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
    for line in _text(root / "proc/self/mountinfo").splitlines():
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
    if text := _text(folder / "cpu.max"):
        quota, _, period = text.partition(" ")
        return None if quota == "max" else int(quota) / int(period or 100_000)
    quota_us, period_us = _number(folder / "cpu.cfs_quota_us"), _number(folder / "cpu.cfs_period_us")  # no limit: -1
    return quota_us / period_us if quota_us and period_us and quota_us > 0 else None


def _cpu_list(text: str) -> tuple[int, ...]:
    """``0-2,5`` as numbers."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return tuple(found)


def _pairs(file: Path) -> dict[str, int]:
    found = {}
    for line in _text(file).splitlines():
        name, _, value = line.partition(" ")
        if value.strip().isdigit():
            found[name] = int(value)
    return found


def _number(file: Path) -> int | None:
    text = _text(file).strip()
    return int(text) if text.isdigit() else None


def _text(file: Path) -> str:
    try:
        return file.read_text()
    except OSError:
        return ""
