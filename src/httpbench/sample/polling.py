"""Count the threads of a process tree that are busy without any requests.

The module samples the state of each thread. A polling thread is always running or ready to run, no matter how busy the machine is. A thread
that waits for a request sleeps. Other work, such as start-up or garbage collection, ends sooner or later, but polling doesn't. Therefore,
the module measures several short periods and returns the result of the least busy period. The measurement ends early after a quiet period.
For most programs, the first period is quiet.
"""

from __future__ import annotations

import random
import time

from httpbench.sample.tree import content, descendants, numbers

PERIODS = 4
LOOKS = 5
PAUSES_S = (0.005, 0.015)
"""Minimum and maximum pause before a sample, in seconds. With equal pauses, a periodic timer could coincide with every sample."""

QUIET_MAX = 0.25
"""Maximum mean number of busy threads in a quiet period. One of its five samples may coincide with a timer or a log message."""

RUNS = b"R"


def polling_threads(root_pid: int) -> float | None:
    """Return the mean number of busy threads below ``root_pid`` in the least busy period, or ``None`` if a sample found no threads."""
    least: float | None = None
    for _ in range(PERIODS):
        looks = [_busy_threads(root_pid) for _ in range(LOOKS)]
        seen = [busy for busy in looks if busy is not None]
        if len(seen) < LOOKS:
            return None
        busy = sum(seen) / LOOKS
        least = busy if least is None else min(least, busy)
        if least <= QUIET_MAX:
            break
    return least


def _busy_threads(root_pid: int) -> int | None:
    """Wait for a random pause, and then count the busy threads once."""
    time.sleep(random.uniform(*PAUSES_S))
    threads = [f"/proc/{pid}/task/{thread}/stat" for pid in descendants(root_pid) for thread in numbers(f"/proc/{pid}/task")]
    states = [stat[stat.rindex(b")") + 2 :][:1] for path in threads if (stat := content(path))]
    return states.count(RUNS) if states else None
