"""Tries a CPU limit: a short burn inside the control groups of a container may use no more CPU than the limit allows.

The burning programs are ours and come from outside: they enter the groups by writing their process ids to ``cgroup.procs``. So this
works for any image, with or without a shell, and requires root. What counts is the groups' own CPU time between two renewals of the
limit: a limit is an amount per period, and a window of arbitrary edges could hold the amounts of one period more.
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
"""Length of a window where nothing renews: there is no limit, or it is too wide to be felt."""
FIRST_PERIOD_S = 0.25  # two periods of docker's 0.1 s, and some
POLL_S = 0.0005
ATTEMPTS = 3
TOLERANCE = 1.05
"""How much more than allowed a burn may use. The kernel hands a limit out in slices, and the window's ends are polled."""
LIFE_S = 3.0  # of a burner that is not ended


def burned_cpus(groups: ControlGroups, cpus: float) -> float | None:
    """The CPU that programs inside the groups could use, in cores. ``None``: this user may not try.

    The lowest of up to three attempts: a harness that is held up reads too late, and then sees too much.
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
    """CPU time per wall time between two renewals of the limit, in cores."""
    renews = _await_period(groups, 1, FIRST_PERIOD_S)
    begin, before = time.monotonic(), groups.cpu_s()
    if renews:
        _await_period(groups, PERIODS, LIFE_S / 2)
    else:
        time.sleep(PLAIN_WINDOW_S)
    end, after = time.monotonic(), groups.cpu_s()
    return None if before is None or after is None else (after - before) / (end - begin)


def _await_period(groups: ControlGroups, count: int, limit_s: float) -> bool:
    """Waits until this many periods have begun; whether they have."""
    first, deadline = groups.periods(), time.monotonic() + limit_s
    if first is None:
        return False
    while (groups.periods() or first) < first + count:
        if time.monotonic() > deadline:
            return False
        time.sleep(POLL_S)
    return True
