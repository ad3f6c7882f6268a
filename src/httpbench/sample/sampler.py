"""What a process tree costs, over time: processor time and memory.

Processor time is what the kernel counted for each process of the tree, ended ones included: a process that was waited for is in its
parent's counters, and the root, to which orphans come back, collects the rest. So nothing is lost between two samples but the
time of children whose parent told the kernel not to keep it (``SIGCHLD`` ignored): of those the time up to the last sample counts.
A new process is found up to half a second late; its time then counts at once. The kernel counts in ticks of 10 ms, for each
process: over a window of a second, 1 % of a core.

RSS is read with the processor time, from counters that the kernel keeps per CPU and that may be some hundred kB behind; PSS, and RSS to the
page, about once a second (less often beyond some 100 MB), as counting pages holds the process up (see
:meth:`httpbench.sample.tree.Process.memory`), and at the end.

Costs less than 1 % of a core for ten processes at ten samples a second (``benchmarks/sampler.py``).
"""

from __future__ import annotations

import contextlib
import threading
import time
from dataclasses import dataclass

from httpbench.model import Usage
from httpbench.sample.series import Series
from httpbench.sample.tree import TICKS_PER_S, Process, descendants
from httpbench.sample.waits import Waits

RESCAN_S = 0.5  # listing the tree costs more than reading it
PAGES_S = 1.0
PAGES_SHARE = 0.0015  # of our time, at most, goes into counting pages
ATTEMPTS = 4


@dataclass(frozen=True, slots=True)
class _Reading:
    ticks: int
    rss_bytes: int
    processes: int


class TreeSampler:
    """Watches all processes below ``root_pid``, itself not counted: a child subreaper that waits for all orphans.

    ``start()`` once, ``mark()`` when what is to be measured begins (otherwise all since the start counts), ``stop()`` once. A thread
    of its own takes a sample each ``interval_s`` seconds. A tree that ends, in part or whole, is no error. ``waits``: also how long its
    threads waited for a CPU, which costs more the more threads there are.
    """

    def __init__(self, root_pid: int, interval_s: float = 0.1, *, waits: bool = False):
        self._root_pid = root_pid
        self._interval_s = interval_s
        self._root: Process | None = None
        self._root_ticks = 0
        self._known: dict[int, Process] = {}
        self._ticks_before = 0
        self._series = Series(0.0)
        self._waits = Waits() if waits else None
        self._rescan_at = 0.0
        self._pages_at = 0.0
        self._pages_told = True
        self._lock = threading.Lock()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, name=f"sampler of {root_pid}", daemon=True)

    def start(self) -> None:
        self._root = _opened(self._root_pid)
        self.mark()
        self._thread.start()

    def mark(self) -> None:
        """The measured window begins now; what was seen before is forgotten."""
        with self._lock:
            self._scan()
            reading = self._read()
            now = time.monotonic()
            self._ticks_before = reading.ticks
            self._series = Series(now)
            self._series.memory(reading.rss_bytes, reading.processes)
            if self._waits:
                self._waits.begin(self._known)
            self._pages_at = now

    def stop(self) -> Usage:
        """The measured window ends now: what it cost."""
        self._ended.set()
        self._thread.join()
        self._scan()
        self._take()
        self._count_pages()
        for process in (*self._known.values(), *([self._root] if self._root else [])):
            process.close()
        return self._series.usage().model_copy(update={"cpu_wait_cores_mean": self._waits.cores_mean if self._waits else None})

    def _watch(self) -> None:
        due = time.monotonic() + self._interval_s
        while not self._ended.wait(max(due - time.monotonic(), 0)):
            with self._lock:
                if time.monotonic() >= self._rescan_at:
                    self._scan()
                self._take()
                if time.monotonic() >= self._pages_at:
                    self._count_pages()
            due = max(due + self._interval_s, time.monotonic())  # a sample that comes late does not make the next ones hurry

    def _scan(self) -> None:
        """Finds new processes. Known ones stay until they cannot be read: a list may leave out some that are there."""
        self._rescan_at = time.monotonic() + RESCAN_S
        for pid in descendants(self._root_pid):
            if pid not in self._known and (process := _opened(pid)):
                self._known[pid] = process

    def _take(self) -> None:
        reading = self._read()
        self._series.add(time.monotonic(), (reading.ticks - self._ticks_before) / TICKS_PER_S, reading.rss_bytes, reading.processes)
        self._ticks_before = reading.ticks
        if self._waits:
            self._waits.look(self._known)

    def _read(self) -> _Reading:
        """A consistent reading: none of the processes ended meanwhile, so that no time moved from a child to its parent behind our back."""
        for _ in range(ATTEMPTS):
            ticks, rss_bytes, processes = self._ticks_of_root(), 0, 0
            gone = []
            for pid, process in self._known.items():
                try:
                    counters = process.counters()
                except OSError:
                    gone.append(pid)
                    continue
                ticks += counters.own_ticks + counters.reaped_ticks
                rss_bytes += counters.rss_bytes
                processes += not counters.is_zombie
            for pid in gone:
                self._known.pop(pid).close()
            if not gone:
                break
        return _Reading(ticks, rss_bytes, processes)

    def _ticks_of_root(self) -> int:
        """Time of the ended children that the root has waited for; its own is not the tree's. When it is gone: what it was."""
        if self._root:
            with contextlib.suppress(OSError):
                self._root_ticks = self._root.counters().reaped_ticks
        return self._root_ticks

    def _count_pages(self) -> None:
        cpu_before_s = time.thread_time()
        rss_bytes = pss_bytes = 0
        for process in self._known.values():
            try:
                rss, pss = process.memory()
            except PermissionError:
                self._pages_told = False
            except OSError:
                continue
            else:
                rss_bytes += rss
                pss_bytes += pss
        cost_s = time.thread_time() - cpu_before_s
        self._pages_at = time.monotonic() + max(PAGES_S, cost_s / PAGES_SHARE)
        self._series.pages(rss_bytes, pss_bytes if self._pages_told else 0)


def _opened(pid: int) -> Process | None:
    try:
        return Process(pid)
    except OSError:
        return None
