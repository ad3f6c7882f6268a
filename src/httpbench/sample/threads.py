"""Measure how long each thread ran, and how long it was ready to run but waited for a CPU.

The CPU time of a process hides a single busy thread, but the time of each thread shows it. A quota, another program or a low priority can
keep a program off the CPU. Its CPU time then makes it look idle, but its waiting time shows that it was ready to run. The kernel keeps both
times for each thread (``/proc/PID/task/TID/schedstat``, in ns) until the thread ends. The times between the last reading and the end of
a thread are therefore unknown. Reading takes about 10 µs per thread.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

NS_PER_S = 1e9

SEEN_SHARE_MIN = 0.5
"""Minimum share of the measured time for which the fullest thread must have existed. Shorter-lived threads are ignored."""


@dataclass(frozen=True, slots=True)
class _Times:
    ran_ns: int = 0
    waited_ns: int = 0


class Threads:
    """A meter that measures how long threads have run and waited since the last ``begin``.

    ``look`` reads all threads of the given processes.
    """

    def __init__(self) -> None:
        self._first: dict[int, _Times] = {}
        self._last: dict[int, tuple[_Times, float]] = {}
        """Times of each thread when it was last seen, and the moment of that reading, by thread id."""
        self._begin_s = 0.0
        self._known = True

    def begin(self, pids: Iterable[int]) -> None:
        self._known = True
        self._begin_s = time.monotonic()
        self._first = self._read(pids)
        self._last = {}

    def look(self, pids: Iterable[int]) -> None:
        now_s = time.monotonic()
        self._last.update({thread: (times, now_s) for thread, times in self._read(pids).items()})

    @property
    def count(self) -> int | None:
        """Number of threads seen, or ``None`` if the kernel doesn't report them."""
        return len(self._last) if self._known and self._last else None

    @property
    def wait_cores_mean(self) -> float | None:
        """Mean number of threads that were ready but waiting for a CPU, or ``None`` if the kernel doesn't report it."""
        if self.count is None:
            return None
        return sum((times.waited_ns - first.waited_ns) / NS_PER_S / seen_s for first, times, seen_s in self._since_begin())

    @property
    def ran_s(self) -> float:
        """CPU time of all threads until each was last seen, in seconds. Threads that ended unseen aren't included."""
        return sum(times.ran_ns - first.ran_ns for first, times, _ in self._since_begin()) / NS_PER_S

    @property
    def fullest_cores(self) -> float | None:
        """CPU use of the busiest thread, in cores, or ``None`` if the kernel doesn't report it."""
        window_s = max((seen_s for _, _, seen_s in self._since_begin()), default=0.0)
        lasting = [each for each in self._since_begin() if each[2] >= SEEN_SHARE_MIN * window_s]
        if self.count is None or not lasting:
            return None
        return max((times.ran_ns - first.ran_ns) / NS_PER_S / seen_s for first, times, seen_s in lasting)

    def _since_begin(self) -> list[tuple[_Times, _Times, float]]:
        """Return each thread's times at the last ``begin``, its times when it was last seen, and the seconds from ``begin`` until then."""
        return [
            (self._first.get(thread, _Times()), times, seen_s - self._begin_s)
            for thread, (times, seen_s) in self._last.items()
            if seen_s > self._begin_s
        ]

    def _read(self, pids: Iterable[int]) -> dict[int, _Times]:
        found = {}
        for pid in pids:
            for thread in _threads(pid):
                try:
                    with open(f"/proc/{pid}/task/{thread}/schedstat", "rb", buffering=0) as file:  # noqa: PTH123  (half the time of Path)
                        ran_ns, waited_ns = file.read().split()[:2]
                        found[int(thread)] = _Times(int(ran_ns), int(waited_ns))
                except FileNotFoundError:
                    self._known = self._known and not os.path.exists(f"/proc/{pid}/task/{thread}")  # noqa: PTH110
                except (OSError, ValueError):
                    continue  # the thread ended in the meantime
        return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  (a third of the time of Path.iterdir)
    except OSError:
        return []
