"""Burn CPU time in given control groups: ``burner.py PROCESSES SECONDS CGROUP_PROCS…`` (standard library only).

The program enters the groups, starts the processes, prints a line and burns CPU time. Every process ends after the given time or when its
parent ends.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

PR_SET_PDEATHSIG = 1


def main() -> None:
    processes, seconds, *entrances = sys.argv[1:]
    for entrance in entrances:
        Path(entrance).write_text(str(os.getpid()))
    os.sched_setaffinity(0, range(os.cpu_count() or 1))  # drop the harness's own affinity; the group's cpuset still applies
    end = time.monotonic() + float(seconds)
    for _ in range(int(processes) - 1):
        if os.fork() == 0:
            ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
            break
    else:
        print("burning", flush=True)
    while time.monotonic() < end:
        pass
    os._exit(0)


if __name__ == "__main__":
    main()
