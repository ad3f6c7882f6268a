"""How busy each core was over a period, with any program: what neither target nor generator used, others did.

Reads ``/proc/stat`` once at each end of the period; the kernel counts in ticks of 10 ms. Interrupt time stands apart: whether the kernel
also charges network work in interrupts to a process depends on its configuration, so it must not look like another program's.
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
            CoreOccupancy(cpu=cpu, **{name: self._share(after[cpu][name] - ticks, elapsed_s) for name, ticks in self._before[cpu].items()})
            for cpu in self._cpus
            if cpu in after and cpu in self._before
        )

    @staticmethod
    def _share(ticks: int, elapsed_s: float) -> float:
        return round(ticks / TICKS_PER_S / elapsed_s, 4)

    def _read(self) -> dict[int, dict[str, int]]:
        """Ticks of processes, of interrupts, and stolen by the hypervisor, for each CPU (proc(5), /proc/stat)."""
        found = {}
        for line in self._stat.read_text().splitlines():
            name, *rest = line.split()
            if name.startswith("cpu") and name != "cpu":
                user, nice, system, _idle, _iowait, irq, softirq, steal = (int(ticks) for ticks in rest[:8])
                found[int(name.removeprefix("cpu"))] = {"busy": user + nice + system, "interrupts": irq + softirq, "stolen": steal}
        return found
