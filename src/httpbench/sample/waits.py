"""How long threads were ready to run and waited for a CPU.

A program that a quota, a neighbour or its priority keeps off the CPU looks idle by its CPU time; its wait shows here. The kernel keeps the
time for each thread (``/proc/PID/task/TID/schedstat``, the second number, in ns) until the thread ends: what it waited after the last look
is unknown. Costs about 10 µs for each thread and look, so it is for programs with few threads.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable

NS_PER_S = 1e9


class Waits:
    """The wait of all threads of the processes given at each look, since the last ``begin``."""

    def __init__(self) -> None:
        self._first: dict[int, int] = {}
        self._last: dict[int, tuple[int, float]] = {}
        """Thread → how long it had waited when it was last seen, in ns, and when that was."""
        self._begin_s = 0.0
        self._known = True

    def begin(self, pids: Iterable[int]) -> None:
        self._known = True
        self._begin_s = time.monotonic()
        self._first = self._read(pids)
        self._last = {}

    def look(self, pids: Iterable[int]) -> None:
        now_s = time.monotonic()
        self._last.update({thread: (waited_ns, now_s) for thread, waited_ns in self._read(pids).items()})

    @property
    def cores_mean(self) -> float | None:
        """Mean number of waiting threads, each from the beginning until last seen. ``None`` if the kernel does not report it."""
        if not self._known or not self._last:
            return None
        shares = (
            (waited_ns - self._first.get(thread, 0)) / NS_PER_S / (seen_s - self._begin_s)
            for thread, (waited_ns, seen_s) in self._last.items()
            if seen_s > self._begin_s
        )
        return sum(shares)

    def _read(self, pids: Iterable[int]) -> dict[int, int]:
        found = {}
        for pid in pids:
            for thread in _threads(pid):
                try:
                    with open(f"/proc/{pid}/task/{thread}/schedstat", "rb", buffering=0) as file:  # noqa: PTH123  (half the time of Path)
                        found[int(thread)] = int(file.read().split()[1])
                except FileNotFoundError:
                    self._known = self._known and not os.path.exists(f"/proc/{pid}/task/{thread}")  # noqa: PTH110
                except (OSError, IndexError):
                    continue  # the thread ended meanwhile
        return found


def _threads(pid: int) -> list[str]:
    try:
        return os.listdir(f"/proc/{pid}/task")  # noqa: PTH208  (a third of the time of Path.iterdir)
    except OSError:
        return []
