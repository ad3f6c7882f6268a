"""Measure how busy each core was over a period, no matter which programs ran on it.

If a core was busy for longer than the target and the load generator ran on it, other programs used the rest.

The meter reads ``/proc/stat`` at the beginning and the end of the period. The kernel counts in ticks of 10 ms. Interrupt time is reported
separately, because it includes network work for our own programs and must not be attributed to other programs. Whether the kernel also
charges interrupt time to processes depends on its configuration.
"""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable
from pathlib import Path

from httpbench.model import CoreOccupancy
from httpbench.sample.tree import TICKS_PER_S

STAT = Path("/proc/stat")


class OccupancyMeter:
    """A meter of the busy time of each core since the last ``mark()``, or since the meter was created."""

    def __init__(self, cpus: Collection[int], stat: Path = STAT):
        self._cpus = sorted(set(cpus))
        self._stat = stat
        self.mark()

    def mark(self) -> None:
        self._begin = time.monotonic()
        self._before = self._stat.read_text()

    def read(self) -> tuple[CoreOccupancy, ...]:
        """Return each core's occupancy since the mark. Cores that the kernel doesn't list are left out."""
        return occupancy(self._before, self._stat.read_text(), time.monotonic() - self._begin, self._cpus)


def stolen_s(cpus: Collection[int], stat: Path = STAT) -> float:
    """Return how long the hypervisor has kept these CPUs from running since the system started, in seconds, summed over the CPUs."""
    return sum(ticks["stolen"] for cpu, ticks in _ticks(stat.read_text()).items() if cpu in cpus) / TICKS_PER_S


def occupancy(before: str, after: str, elapsed_s: float, cpus: Iterable[int]) -> tuple[CoreOccupancy, ...]:
    """Return each core's occupancy between two readings of ``/proc/stat``. Cores that the kernel doesn't list are left out."""
    first, last, elapsed_s = _ticks(before), _ticks(after), max(elapsed_s, 1 / TICKS_PER_S)
    return tuple(
        CoreOccupancy(
            cpu=cpu, **{name: round((last[cpu][name] - ticks) / TICKS_PER_S / elapsed_s, 4) for name, ticks in first[cpu].items()}
        )
        for cpu in cpus
        if cpu in first and cpu in last
    )


def _ticks(stat: str) -> dict[int, dict[str, int]]:
    """Return the ticks that each CPU spent in processes and in interrupts, and those that the hypervisor stole (proc(5), /proc/stat)."""
    found = {}
    for line in stat.splitlines():
        name, *rest = line.split()
        if name.startswith("cpu") and name != "cpu":
            user, nice, system, _idle, _iowait, irq, softirq, steal = (int(ticks) for ticks in rest[:8])
            found[int(name.removeprefix("cpu"))] = {"busy": user + nice + system, "interrupts": irq + softirq, "stolen": steal}
    return found
