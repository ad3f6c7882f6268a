"""Test a CPU limit with a short burn inside a container's control groups.

The burning programs belong to httpbench and start outside the container: they enter its groups by writing their process ids to
``cgroup.procs``. This works for any image, with or without a shell, but requires root. The burn compares the groups' CPU time with the wall
time between two renewals of the limit. The kernel grants a limit as an amount per period, so a window with arbitrary edges could contain
one period too many.
"""

from __future__ import annotations

import math
import subprocess
import sys
import time
from pathlib import Path

from httpbench.host.control_groups import ControlGroups

PROGRAM = Path(__file__).with_name("burner.py")
PERIODS = 3
PLAIN_WINDOW_S = 0.3
"""Length of the window if nothing is ever renewed: there is no limit, or it is too high to have an effect."""
FIRST_PERIOD_S = 0.25  # two of docker's periods of 0.1 s, plus a margin
POLL_S = 0.0005
ATTEMPTS = 3
TOLERANCE = 1.05
"""How much a burn may exceed the limit. The kernel grants a limit in small slices, and the ends of the window are polled."""
LIFE_S = 3.0  # after which a burner ends by itself


def burned_cpus(groups: ControlGroups, cpus: float) -> float | None:
    """Return the CPU time per second that programs inside the groups got, in cores, or ``None`` if this user may not test it.

    The result is the lowest of up to three attempts, because a delayed harness reads the counters late and overestimates.
    """
    entrances = groups.entrances("cpu", "cpuacct", "cpuset")
    argv = [sys.executable, "-I", "-S", str(PROGRAM), str(math.ceil(cpus) + 1), str(LIFE_S), *map(str, entrances)]
    lowest: float | None = None
    for _ in range(ATTEMPTS):
        with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True) as burner:
            try:
                assert burner.stdout is not None
                if not burner.stdout.readline():
                    return None
                found = _used(groups)
            finally:
                burner.kill()
        if found is None:
            return None
        lowest = found if lowest is None else min(lowest, found)
        if lowest <= TOLERANCE * cpus:
            break
    return lowest


def _used(groups: ControlGroups) -> float | None:
    """Return CPU time per wall time between two renewals of the limit, in cores."""
    renews = _await_period(groups, 1, FIRST_PERIOD_S)
    begin, before = time.monotonic(), groups.cpu_s()
    if renews:
        _await_period(groups, PERIODS, LIFE_S / 2)
    else:
        time.sleep(PLAIN_WINDOW_S)
    end, after = time.monotonic(), groups.cpu_s()
    return None if before is None or after is None else (after - before) / (end - begin)


def _await_period(groups: ControlGroups, count: int, limit_s: float) -> bool:
    """Wait until ``count`` periods have started. Return false if that takes longer than ``limit_s``."""
    first, deadline = groups.periods(), time.monotonic() + limit_s
    if first is None:
        return False
    while (groups.periods() or first) < first + count:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True
