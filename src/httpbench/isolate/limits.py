"""Check the limits of a container by reading its control groups and by burning CPU time inside them.

The programs that burn CPU time belong to httpbench and start outside the container. They enter the container's groups by writing their
process ids to ``cgroup.procs``. This works for any image, with or without a shell, but requires root. The check divides the groups' CPU
time by the wall time between two renewals of the quota. The kernel grants the quota at the start of each period, so a window with arbitrary
edges could contain one quota too many.
"""

from __future__ import annotations

import math
import mmap
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from httpbench.errors import LimitError
from httpbench.host.control_groups import ControlGroups
from httpbench.isolate.launch import size_text
from httpbench.model import Isolation

BURNER = Path(__file__).with_name("burner.py")
PERIODS = 3
PLAIN_WINDOW_S = 0.3
"""Length of the window, in seconds, if the kernel reports no periods because the CPU limit is missing or too high to have an effect."""
FIRST_PERIOD_S = 0.25  # maximum wait for the first period: two of docker's periods of 0.1 s each, plus a margin
POLL_S = 0.0005
ATTEMPTS = 3
TOLERANCE = 1.05
"""Maximum ratio of a burn's CPU usage to the limit.

This maximum is above 1 because the kernel grants the quota in small slices, and because polling finds the edges of the window only
approximately.
"""
LIFE_S = 3.0  # time after which a burner ends by itself
CPUS_TOLERANCE = 0.01  # engines round the quota to 10 µs of a 100 ms period


def prove(isolation: Isolation, cpuset: Sequence[int], groups: ControlGroups) -> float | None:
    """Check the limits of a container. Return the CPU usage of a burn inside these limits, in cores.

    Without root, the limits are read but not tested, and the result is ``None``.

    Raises :class:`LimitError` if limits aren't in force. The message lists them.
    """
    if wrong := not_in_force(isolation, cpuset, groups):
        raise LimitError("; ".join(wrong), hint=f"check the version and the settings of {isolation.engine}")
    burned = burned_cpus(groups, isolation.cpus)
    if burned is not None and burned > TOLERANCE * isolation.cpus:
        raise LimitError(f"--cpus {isolation.cpus:g} is not in force: a burn inside the container used {burned:.2f} cores")
    return burned


def not_in_force(isolation: Isolation, cpuset: Sequence[int], groups: ControlGroups) -> list[str]:
    """Return a phrase for each requested limit that the control groups don't have."""
    cpus, memory, allowed = groups.cpus(), groups.memory_bytes(), groups.cpuset()
    has_cpus = cpus is not None and abs(cpus - isolation.cpus) <= CPUS_TOLERANCE * isolation.cpus
    has_memory = memory is not None and abs(memory - isolation.memory_bytes) <= mmap.PAGESIZE
    limits = (
        (f"--cpus {isolation.cpus:g}", has_cpus, "no CPU limit" if cpus is None else f"{cpus:g} cores"),
        (f"--memory {size_text(isolation.memory_bytes)}", has_memory, "no memory limit" if memory is None else f"{memory:,} bytes"),
        (f"--cpuset-cpus {_list(cpuset)}", allowed == tuple(sorted(cpuset)), _list(allowed) or "none"),
    )
    return [f"{option} is not in force: the container's control groups have {found}" for option, holds, found in limits if not holds]


def _list(cpus: Sequence[int] | None) -> str:
    return ",".join(map(str, cpus or ()))


def burned_cpus(groups: ControlGroups, cpus: float) -> float | None:
    """Burn CPU time inside the groups. Return the CPU usage in cores, or ``None`` if this user isn't allowed to test the limit.

    The result is the lowest value of up to three attempts. If the harness is delayed, it reads the counters late, which makes the value too
    high.
    """
    entrances = groups.entrances("cpu", "cpuacct", "cpuset")
    argv = [sys.executable, "-I", "-S", str(BURNER), str(math.ceil(cpus) + 1), str(LIFE_S), *map(str, entrances)]
    lowest = math.inf
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
        if (lowest := min(lowest, found)) <= TOLERANCE * cpus:
            break
    return lowest


def _used(groups: ControlGroups) -> float | None:
    """Return the CPU usage of the groups between two renewals of the quota, in cores."""
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
