"""Measure the CPU time and memory of a process tree over time.

CPU time comes from the kernel's counters for each process. Ended processes are included: the kernel adds the time of a process to its
parent's counters when the parent waits for it, and orphans become children of the root. Time is lost only if a parent ignores ``SIGCHLD``.
The time of its children then counts only up to the last sample before they end. The sampler may find a new process half a second after its
start, but counts all the time that the process has used. The kernel counts the time of a process with several threads in ticks of 10 ms,
which is 1% of a core over a window of one second.

RSS is read together with CPU time, from per-CPU counters that may lag by a few hundred kB. PSS and exact RSS are read about once a second
(less often for programs larger than about 100 MB) and at the end. They aren't read more often,
because counting pages delays the process (see :meth:`httpbench.sample.tree.Process.memory`).

Sampling ten processes ten times a second takes less than 1% of a core (``benchmarks/sampler.py``).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection
from dataclasses import dataclass, replace

from httpbench.host.control_groups import ControlGroups
from httpbench.model import Usage
from httpbench.sample.occupancy import stolen_s
from httpbench.sample.quota import QuotaMeter
from httpbench.sample.series import SampleSeries
from httpbench.sample.threads import Threads
from httpbench.sample.tree import TICKS_PER_S, Reading, Tree, descendants

RESCAN_S = 0.5  # listing the processes of a tree takes longer than reading their counters
PAGES_S = 1.0
ROUNDING_TICKS = 2.0
"""Maximum decrease of a tree's time due to rounding, in ticks, when a process ends and its time moves to its parent's counter. A larger
decrease means that time was lost."""
SEEN_CPU_SHARE_MIN = 0.9
"""Minimum share of a tree's CPU time that known threads must account for. If they account for less, the waiting time of the tree is
unknown. In a server that forks for each connection, for example, the waiting time of ended processes is lost."""
PAGES_SHARE = 0.0015  # maximum share of time that the sampler spends on counting pages


@dataclass(frozen=True, slots=True)
class Current:
    """A program's CPU use and memory at the last sample, for live display only."""

    cpu_cores: float
    """CPU use over about the last second, in cores."""
    rss_bytes: int
    """Resident memory, summed over the program's processes."""
    throttled_share: float | None = None
    """Share of a CPU quota's periods in which the program was throttled since the window began, or ``None`` without a quota."""

    def __str__(self) -> str:
        """Return text such as ``87% CPU, 12 MB`` or, if a quota was reached, ``50% CPU (throttled 41%), 12 MB``."""
        throttled = f" (throttled {self.throttled_share * 100:.0f}%)" if self.throttled_share else ""
        return f"{self.cpu_cores * 100:.0f}% CPU{throttled}, {self.rss_bytes / 1e6:,.0f} MB"


class TreeSampler:
    """A sampler of all processes below ``root_pid``. The root, a child subreaper that waits for all orphans, isn't included.

    Call ``start()`` once, ``mark()`` when the measured window begins (by default at the start), and ``stop()`` once. A
    background thread takes a sample every ``interval_s`` seconds. With ``groups``, the sampler measures the processes and CPU time of a
    container's control groups; ``root_pid`` is then the container's first process. It isn't an error if some or all of the processes end.

    The times of the program's threads are read at the beginning and the end of the window. With ``threads_often``, they are also read with
    each sample. This takes additional time for each thread, so use it only for programs that end with the window.

    With ``cpus``, each sample includes the time that the hypervisor took from these CPUs. If it has never taken any since the system
    started, it isn't sampled, because reading ``/proc/stat`` takes long on a machine with many CPUs, and most of those aren't virtual.
    """

    def __init__(
        self,
        root_pid: int,
        interval_s: float = 0.1,
        *,
        threads_often: bool = False,
        groups: ControlGroups | None = None,
        cpus: Collection[int] = (),
    ):
        self._root_pid = root_pid
        self._cpus = cpus
        self._stolen_last_s = 0.0
        self._groups = groups
        self._throttled_before_s: float | None = None
        self._throttled_last_s: float | None = None
        self._group_peak_bytes: int | None = None
        self._oom_kills: int | None = None
        self._group_ticks = 0.0
        self._interval_s = interval_s
        self._tree = Tree(root_pid)
        self._ticks_before = 0.0
        self._series = SampleSeries(0.0)
        self._rss_bytes = 0
        self._threads = Threads()
        self._threads_often = threads_often
        self._quota = QuotaMeter()
        self._rescan_at = 0.0
        self._pages_at = 0.0
        self._pages_known = True
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"sampler of {root_pid}", daemon=True)

    def start(self) -> None:
        self.mark()
        self._thread.start()

    def mark(self) -> None:
        """Begin the measured window and drop earlier samples."""
        with self._lock:
            self._scan()
            reading = self._read()
            now = time.monotonic()
            self._ticks_before = reading.ticks
            self._series = SampleSeries(now)
            self._series.memory(reading.rss_bytes, reading.processes)
            self._threads.begin(self._tree.known)
            self._quota.mark(self._tree.known)
            self._throttled_before_s = self._throttled_last_s = self._groups.throttled_s() if self._groups else None
            self._pages_at = now
            self._stolen_last_s = stolen_s(self._cpus) if self._cpus else 0.0

    def current(self) -> Current:
        """Return the tree's CPU use and memory at the last sample."""
        with self._lock:
            return Current(self._series.cores_of_late(), self._rss_bytes, self._quota.throttled_share())

    def stop(self) -> Usage:
        """End the measured window and return its usage."""
        self._ended.set()
        self._thread.join()
        self._scan()
        self._threads.look(self._tree.known)
        self._take()
        self._count_pages()
        self._tree.close()
        usage = self._series.usage(self._threads.ran_s)
        return usage.model_copy(
            update={
                "cpu_wait_cores_mean": self._wait_cores_mean(usage.cpu_s),
                "threads": self._threads.count,
                "thread_cores_max": self._threads.fullest_cores,
                "throttled_share": self._quota.throttled_share(),
                "throttled_s": self._throttled_s(),
                "group_bytes_peak": self._group_peak_bytes,
                "oom_kills": self._oom_kills,
            }
        )

    def _wait_cores_mean(self, cpu_s: float) -> float | None:
        """Return the waiting time of all threads per second, in cores, or ``None`` if too many threads ended unseen."""
        is_whole = self._threads.ran_s >= SEEN_CPU_SHARE_MIN * cpu_s - ROUNDING_TICKS / TICKS_PER_S
        return self._threads.wait_cores_mean if is_whole else None

    def _watch(self) -> None:
        due = time.monotonic() + self._interval_s
        while not self._ended.wait(max(due - time.monotonic(), 0)):
            with self._lock:
                if time.monotonic() >= self._rescan_at:
                    self._scan()
                self._take()
                if time.monotonic() >= self._pages_at:
                    self._count_pages()
            due = max(due + self._interval_s, time.monotonic())  # a late sample doesn't shorten the next intervals

    def _scan(self) -> None:
        self._rescan_at = time.monotonic() + RESCAN_S
        self._tree.find(self._groups.pids() if self._groups else descendants(self._root_pid))

    def _take(self) -> None:
        reading = self._read()
        cpu_s = (reading.ticks - self._ticks_before) / TICKS_PER_S
        self._series.add(time.monotonic(), cpu_s, reading.rss_bytes, reading.processes, self._throttled_since(), self._stolen_since())
        lost = reading.ticks < self._ticks_before - ROUNDING_TICKS
        self._ticks_before = reading.ticks if lost else max(reading.ticks, self._ticks_before)
        self._rss_bytes = reading.rss_bytes
        if self._threads_often:
            self._threads.look(self._tree.known)

    def _read(self) -> Reading:
        reading = self._tree.read()
        return reading if self._groups is None else replace(reading, ticks=self._ticks_of_groups(self._groups))

    def _ticks_of_groups(self, groups: ControlGroups) -> float:
        """Return the CPU time of all processes that ever ran in the container, in ticks. If the container is gone, keep the last values."""
        if (cpu_s := groups.cpu_s()) is not None:
            self._group_ticks = cpu_s * TICKS_PER_S
            self._group_peak_bytes = groups.memory_bytes_peak() or self._group_peak_bytes
            self._oom_kills = groups.oom_kills() if self._oom_kills is None else groups.oom_kills() or self._oom_kills
        return self._group_ticks

    def _throttled_since(self) -> float | None:
        """Return the throttled time since the previous sample."""
        now = self._groups.throttled_s() if self._groups else None
        before, self._throttled_last_s = self._throttled_last_s, now if now is not None else self._throttled_last_s
        return None if now is None or before is None else now - before

    def _stolen_since(self) -> float:
        """Return the stolen time since the previous sample."""
        if not self._stolen_last_s:
            return 0.0
        before, self._stolen_last_s = self._stolen_last_s, stolen_s(self._cpus)
        return self._stolen_last_s - before

    def _throttled_s(self) -> float | None:
        after = self._groups.throttled_s() if self._groups else None
        return None if after is None or self._throttled_before_s is None else after - self._throttled_before_s

    def _count_pages(self) -> None:
        cpu_before_s = time.thread_time()
        rss_bytes = pss_bytes = 0
        for process in self._tree.known.values():
            try:
                rss, pss = process.memory()
            except PermissionError:
                self._pages_known = False
            except OSError:
                continue
            else:
                rss_bytes += rss
                pss_bytes += pss
        cost_s = time.thread_time() - cpu_before_s
        self._pages_at = time.monotonic() + max(PAGES_S, cost_s / PAGES_SHARE)
        self._series.pages(rss_bytes, pss_bytes if self._pages_known else 0)
