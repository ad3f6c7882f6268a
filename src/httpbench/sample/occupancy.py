"""How busy each core was over a period, with any program: what neither target nor generator used, others did.

Reads ``/proc/stat`` once at each end of the period; the kernel counts in ticks of 10 ms. Interrupt time is excluded: the kernel counts
network work in interrupts for no process, so it would look like another program's.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from pathlib import Path

from httpbench.model import CoreOccupancy
from httpbench.sample.tree import TICKS_PER_S

STAT = Path("/proc/stat")


class OccupancyMeter:
    """Counts from the last ``mark()``; without one, from its creation."""

    def __init__(self, cpus: Collection[int], stat: Path = STAT):
        self._cpus = sorted(set(cpus))
        self._stat = stat
        self.mark()

    def mark(self) -> None:
        self._begin = time.monotonic()
        self._before = self._read()

    def read(self) -> tuple[CoreOccupancy, ...]:
        """Each core since the mark; without cores that the kernel does not list."""
        elapsed_s = max(time.monotonic() - self._begin, 1 / TICKS_PER_S)
        after = self._read()
        return tuple(
            CoreOccupancy(
                cpu=cpu,
                busy=round((after[cpu][0] - self._before[cpu][0]) / TICKS_PER_S / elapsed_s, 4),
                stolen=round((after[cpu][1] - self._before[cpu][1]) / TICKS_PER_S / elapsed_s, 4),
            )
            for cpu in self._cpus
            if cpu in after and cpu in self._before
        )

    def _read(self) -> dict[int, tuple[int, int]]:
        """Ticks of processes and ticks stolen by the hypervisor, for each CPU (proc(5), /proc/stat)."""
        found = {}
        for line in self._stat.read_text().splitlines():
            name, *rest = line.split()
            if name.startswith("cpu") and name != "cpu":
                user, nice, system, _idle, _iowait, _irq, _softirq, steal = (int(ticks) for ticks in rest[:8])
                found[int(name.removeprefix("cpu"))] = (user + nice + system, steal)
        return found
