"""How long each thread ran, and how long it was ready to run and waited for a CPU.

One full thread hides in the average of its process; its own time shows here. So does the wait of a program that a quota, a neighbour or its
priority keeps off the CPU and that looks idle by its CPU time. The kernel keeps both times for each thread
(``/proc/PID/task/TID/schedstat``, in ns) until the thread ends: what it did after the last look is unknown. Costs about 10 µs for each
thread and look.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from dataclasses import dataclass

NS_PER_S = 1e9

SEEN_SHARE_MIN = 0.5
"""Of the time since ``begin``, in which a thread must have lived to be the fullest: a short burst fills no window."""


@dataclass(frozen=True, slots=True)
class _Times:
    ran_ns: int = 0
    waited_ns: int = 0


class Threads:
    """All threads of the processes given at each look, since the last ``begin``."""

    def __init__(self) -> None:
        self._first: dict[int, _Times] = {}
        self._last: dict[int, tuple[_Times, float]] = {}
        """Thread → its times when it was last seen, and when that was."""
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
        """Threads that were seen. ``None`` if the kernel does not report them."""
        return len(self._last) if self._known and self._last else None

    @property
    def wait_cores_mean(self) -> float | None:
        """Mean number of waiting threads, each from the beginning until last seen. ``None`` if the kernel does not report it."""
        if self.count is None:
            return None
        return sum((times.waited_ns - first.waited_ns) / NS_PER_S / seen_s for first, times, seen_s in self._since_begin())

    @property
    def fullest_cores(self) -> float | None:
        """CPU use of the thread that used most, in cores' worth. ``None`` if the kernel does not report it."""
        window_s = max((seen_s for _, _, seen_s in self._since_begin()), default=0.0)
        lasting = [each for each in self._since_begin() if each[2] >= SEEN_SHARE_MIN * window_s]
        if self.count is None or not lasting:
            return None
        return max((times.ran_ns - first.ran_ns) / NS_PER_S / seen_s for first, times, seen_s in lasting)

    def _since_begin(self) -> list[tuple[_Times, _Times, float]]:
        """Of each thread its times at the beginning and when it was last seen, and how long after the beginning that was."""
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
                    continue  # the thread ended meanwhile
        return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  (a third of the time of Path.iterdir)
    except OSError:
        return []
