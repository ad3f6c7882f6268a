"""Measure how often CPU quotas throttled a program, from the counters of its control groups (version 1 or 2).

Every group between a process and the root can have a quota, so the meter reads all groups and reports the most throttled one. It reads a
few small files at the beginning and the end of the period. All programs of a throttled group are stopped. The result therefore shows that a
quota was reached, but not which program used it up.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from httpbench.host.control_groups import ControlGroups, distinct_groups
from httpbench.model import SharedQuota


class QuotaMeter:
    """A meter of the share of periods in which a program was throttled since the last ``mark()``, or since the meter was created.

    ``pids`` are the processes of the program.
    """

    def __init__(self, pids: Iterable[int] = (), root: Path = Path("/")):
        self._root = root
        self.mark(pids)

    def mark(self, pids: Iterable[int]) -> None:
        limited = {level.folder("cpu"): level for level in _levels(pids, self._root)}
        self._before = [(level, counts) for level in limited.values() if (counts := _counts(level))]

    def throttled_share(self) -> float | None:
        """Return the share of periods in which a quota was used up, 0 to 1, or ``None`` if there is no quota or no new period."""
        shares = [share for level, before in self._before if (share := _share(before, _counts(level))) is not None]
        return max(shares, default=None)


class SharedQuotaMeter:
    """A meter of the use of a quota that a process shares with all other programs in its control groups, since the last ``mark()``."""

    def __init__(self, root: Path = Path("/"), pid: int | str = "self"):
        self._root = root
        self._pid = pid
        self.mark()

    def mark(self) -> None:
        self._begin_s = time.monotonic()
        self._before = list(self._read())

    def read(self) -> SharedQuota | None:
        """Return the use of the most throttled group's quota, or ``None`` if there is no quota or the kernel doesn't report its use."""
        elapsed_s = max(time.monotonic() - self._begin_s, 1e-3)
        found = []
        for level, before, used_before_s in self._before:
            share, used_s = _share(before, _counts(level)), level.cpu_s()
            if share is not None and used_s is not None:
                found.append(SharedQuota(throttled_share=share, used_cores=(used_s - used_before_s) / elapsed_s))
        return max(found, key=lambda quota: quota.throttled_share, default=None)

    def _read(self) -> Iterator[tuple[ControlGroups, _Counts, float]]:
        for level in _levels([self._pid], self._root):
            counts, used_s = _counts(level), level.cpu_s()
            if counts and counts.periods and used_s is not None:
                yield level, counts, used_s


class _Counts(NamedTuple):
    periods: int
    throttled: int


def _levels(pids: Iterable[int | str], root: Path) -> Iterator[ControlGroups]:
    for groups in distinct_groups(pids, root):
        yield from groups.levels()


def _counts(level: ControlGroups) -> _Counts | None:
    """Return the counters of a control group, or ``None`` if the group has no quota or no longer exists."""
    periods, throttled = level.periods(), level.throttled_periods()
    return None if periods is None or throttled is None else _Counts(periods, throttled)


def _share(before: _Counts, after: _Counts | None) -> float | None:
    if after is None or after.periods <= before.periods:
        return None
    return min(max((after.throttled - before.throttled) / (after.periods - before.periods), 0.0), 1.0)
