"""Wait until no other program uses the measured cores. All targets are frozen in the meantime."""

from __future__ import annotations

import time
from collections.abc import Collection

from httpbench.sample import OccupancyMeter
from httpbench.sample.tree import TICKS_PER_S
from httpbench.stats.evidence import OTHERS_SHARE_MAX

LOOK_S = 0.04
"""Time between two readings of the kernel's counters, in seconds. The counters have a resolution of 10 ms."""


def wait_until_quiet(cpus: Collection[int], limit_s: float) -> bool:
    """Wait until the CPUs are idle, for at most about ``limit_s`` seconds. Returns whether they became idle.

    A single tick of CPU time between two readings is ignored.
    """
    deadline = time.monotonic() + limit_s
    meter = OccupancyMeter(cpus)
    while time.monotonic() < deadline:
        time.sleep(LOOK_S)
        busy_cores = sum(core.busy for core in meter.read())
        if busy_cores < max(OTHERS_SHARE_MAX * len(cpus), 1.5 / TICKS_PER_S / LOOK_S):
            return True
        meter.mark()
    return False
