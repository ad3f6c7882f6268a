"""The processes below a root, and the kernel's counters for each.

``/proc/PID/stat`` is kept open and read again with one system call, which takes half as long as opening, reading and closing it. Once
the process has ended, reading the open file fails, even if another process gets the same process id. The file contains times in ticks of 10
ms, and a process that serves one connection may never use a whole tick. Therefore, the time of a process with one thread is also read from
``/proc/PID/schedstat``.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
NS_PER_TICK = 1e9 / TICKS_PER_S
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
STAT_BYTES = 1024  # enough for 52 numbers and a name
ROLLUP_BYTES = 4096  # enough for some twenty short lines
ATTEMPTS = 4
ZOMBIE = b"Z"
KERNEL_LISTS_CHILDREN = os.path.exists(f"/proc/self/task/{os.getpid()}/children")  # noqa: PTH110
"""Whether the kernel lists the children of a thread. False without CONFIG_PROC_CHILDREN."""


def descendants(root_pid: int) -> list[int]:
    """Return every process below ``root_pid``, parents before their children, without the root itself.

    The kernel's list may lack a child if a sibling ends in the meantime. Call this function again if every process is required.
    """
    return _below(root_pid, _children if KERNEL_LISTS_CHILDREN else children_by_parent().get)


def _below(root_pid: int, children_of: Callable[[int], list[int] | None]) -> list[int]:
    found: list[int] = []
    for pid in children_of(root_pid) or ():
        found.append(pid)
        found += _below(pid, children_of)
    return found


def children_by_parent() -> dict[int, list[int]]:
    """Return the children of every process, by the parent's id. This takes a few milliseconds on a machine with a thousand processes."""
    found: dict[int, list[int]] = {}
    for pid in numbers("/proc"):
        if stat := content(f"/proc/{pid}/stat"):
            parent = int(stat[stat.rindex(b")") + 2 :].split(None, 2)[1])
            found.setdefault(parent, []).append(pid)
    return found


def _children(pid: int) -> list[int]:
    """Return the children of a process. The kernel lists them separately for each thread that started them."""
    return [int(child) for task in numbers(f"/proc/{pid}/task") for child in content(f"/proc/{pid}/task/{task}/children").split()]


def numbers(folder: str) -> list[int]:
    """Return the ids of the processes or threads that a folder of ``/proc`` lists, or an empty list if the folder is gone."""
    try:
        return [int(name) for name in os.listdir(folder) if name.isdigit()]  # noqa: PTH208  (a third of the time of Path.iterdir)
    except OSError:
        return []


def content(path: str) -> bytes:
    """Return the content of a file in ``/proc``, or an empty string if its process or thread is gone."""
    try:
        with open(path, "rb", buffering=0) as file:  # noqa: PTH123  (half the time of Path)
            return file.read()
    except OSError:
        return b""


@dataclass(frozen=True, slots=True)
class Counters:
    """The CPU time, memory and state of a process at one moment."""

    own_ticks: float
    """User and system time of all threads, including ended ones. It is exact if there is one thread, and in whole ticks otherwise."""
    reaped_ticks: int
    """User and system time of ended descendants that have been waited for."""
    rss_bytes: int
    is_zombie: bool


class Process:
    """A process whose counters are read repeatedly. Methods raise ``OSError`` once the process is gone."""

    __slots__ = ("_schedstat", "_stat", "pid")

    def __init__(self, pid: int):
        self.pid = pid
        self._stat = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
        try:
            self._schedstat: int | None = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:  # a kernel without CONFIG_SCHED_INFO
            self._schedstat = None

    def counters(self) -> Counters:
        # The name is in parentheses and may itself contain spaces and parentheses. The state is the first field after it.
        data = os.pread(self._stat, STAT_BYTES, 0)
        fields = data[data.rindex(b")") + 2 :].split(None, 22)
        own_ticks: float = int(fields[11]) + int(fields[12])
        if fields[17] == b"1":  # ``schedstat`` describes the first thread only
            own_ticks = max(own_ticks, self._first_thread_ticks())
        return Counters(
            own_ticks=own_ticks,
            reaped_ticks=int(fields[13]) + int(fields[14]),
            rss_bytes=int(fields[21]) * PAGE_BYTES,
            is_zombie=fields[0] == ZOMBIE,
        )

    def memory(self) -> tuple[int, int]:
        """Return RSS and PSS in bytes, counted page by page. Raise ``PermissionError`` if the kernel hides them.

        Counting takes the kernel about 0.1 ms per 10 MB. In the meantime, the process can't map or unmap memory.
        """
        with open(f"/proc/{self.pid}/smaps_rollup", "rb", buffering=0) as file:  # noqa: PTH123  (half the time of Path)
            lines = file.read(ROLLUP_BYTES).splitlines()
        sizes = {line[:4]: int(line.split()[1]) * 1024 for line in lines if line.startswith((b"Rss:", b"Pss:"))}
        return sizes[b"Rss:"], sizes[b"Pss:"]

    def close(self) -> None:
        os.close(self._stat)
        if self._schedstat is not None:
            os.close(self._schedstat)

    def _first_thread_ticks(self) -> float:
        if self._schedstat is None:
            return 0.0
        return int(os.pread(self._schedstat, STAT_BYTES, 0).split(None, 1)[0]) / NS_PER_TICK


@dataclass(frozen=True, slots=True)
class Reading:
    """The CPU time that a tree has used so far, with its current memory and number of processes."""

    ticks: float
    rss_bytes: int
    processes: int


class Tree:
    """The known processes below a root. The root, a child subreaper that waits for all orphans, isn't included."""

    def __init__(self, root_pid: int):
        self.known: dict[int, Process] = {}
        self._root = _opened(root_pid)
        self._reaped_ticks = 0

    def find(self, pids: Iterable[int]) -> None:
        """Add new processes. Known processes stay until they can't be read, because a listing may miss some."""
        for pid in pids:
            if pid not in self.known and (process := _opened(pid)):
                self.known[pid] = process

    def read(self) -> Reading:
        """Return a consistent reading. Retry if a process ended, because its time may have moved to a parent that was already read."""
        for _ in range(ATTEMPTS):
            ticks: float = self._ticks_of_root()
            rss_bytes = processes = 0
            gone = []
            for pid, process in self.known.items():
                try:
                    counters = process.counters()
                except OSError:
                    gone.append(pid)
                    continue
                ticks += counters.own_ticks + counters.reaped_ticks
                rss_bytes += counters.rss_bytes
                processes += not counters.is_zombie
            for pid in gone:
                self.known.pop(pid).close()
            if not gone:
                break
        return Reading(ticks, rss_bytes, processes)

    def close(self) -> None:
        for process in (*self.known.values(), *([self._root] if self._root else [])):
            process.close()

    def _ticks_of_root(self) -> int:
        """Return the time of ended children that the root waited for. If the root is gone, return the last known value."""
        if self._root:
            with contextlib.suppress(OSError):
                self._reaped_ticks = self._root.counters().reaped_ticks
        return self._reaped_ticks


def _opened(pid: int) -> Process | None:
    try:
        return Process(pid)
    except OSError:
        return None
