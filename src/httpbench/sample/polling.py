"""How many threads of a process tree are busy while nobody requests anything of it.

Looks at the state of each thread: one that polls runs or is ready to run at any moment, however busy the machine is; one that waits for a
request sleeps. What a program has begun (a start-up, a collection of garbage) ends; polling does not. So several short periods are looked
at, the least busy one counts, and the first quiet one ends the look: for most programs that is the first.
"""

from __future__ import annotations

import os
import random
import time

from httpbench.sample.tree import STAT_BYTES, descendants

PERIODS = 4
LOOKS = 5
PAUSES_S = (0.005, 0.015)
"""Between two looks. Their length varies, or a program with a timer of the same length could be busy at each look."""

QUIET_MAX = 0.25
"""Busy threads up to which a period is quiet: one look of five may meet a timer or a log."""

RUNS = b"R"


def polling_threads(root_pid: int) -> float | None:
    """Mean number of threads below ``root_pid`` that ran or were ready to, in the least busy period; ``None`` if none was seen."""
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
    """Of one look, after a pause."""
    time.sleep(random.uniform(*PAUSES_S))
    states = [state for pid in descendants(root_pid) for state in _states(pid)]
    return states.count(RUNS) if states else None


def _states(pid: int) -> list[bytes]:
    """Return the state of each thread of a process."""
    states = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208  (a third of the time of Path.iterdir)
            with open(f"/proc/{pid}/task/{thread}/stat", "rb", buffering=0) as file:  # noqa: PTH123  (half the time of Path)
                data = file.read(STAT_BYTES)
                states.append(data[data.rindex(b")") + 2 :][:1])
    except OSError:
        pass  # it ended meanwhile
    return states
