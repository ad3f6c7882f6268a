"""How often a CPU quota stopped a program: the throttled periods of its control groups, for both versions of the interface.

A quota of any group between a process and the root applies, so all are read, and the one that throttled most counts. Reads a few small
files at each end of the period. A throttled group throttles all programs in it, so this says that a quota was reached, and not by whom.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from httpbench.host.control_groups import ControlGroups, distinct_groups
from httpbench.model import SharedQuota


class QuotaMeter:
    """Counts from the last ``mark()``; without one, from its creation. ``pids``: processes of one program."""

    def __init__(self, pids: Iterable[int] = (), root: Path = Path("/")):
        self._root = root
        self.mark(pids)

    def mark(self, pids: Iterable[int]) -> None:
        limited = {level.folder("cpu"): level for level in _levels(pids, self._root)}
        self._before = [(level, counts) for level in limited.values() if (counts := _counts(level))]

    def throttled_share(self) -> float | None:
        """Share of a quota's periods in which it was used up, 0 to 1. ``None``: no quota, or no time was used under one."""
        shares = [share for level, before in self._before if (share := _share(before, _counts(level))) is not None]
        return max(shares, default=None)


class SharedQuotaMeter:
    """The quota of the control groups that a process is in: used up by all programs there. Counts from the last ``mark()``."""

    def __init__(self, root: Path = Path("/"), pid: int | str = "self"):
        self._root = root
        self._pid = pid
        self.mark()

    def mark(self) -> None:
        self._begin_s = time.monotonic()
        self._before = list(self._read())

    def read(self) -> SharedQuota | None:
        """Of the group that was throttled most; ``None`` without a quota, or where the kernel does not report what was used."""
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
    """``None`` where the group has no quota, or is gone."""
    periods, throttled = level.periods(), level.throttled_periods()
    return None if periods is None or throttled is None else _Counts(periods, throttled)


def _share(before: _Counts, after: _Counts | None) -> float | None:
    if after is None or after.periods <= before.periods:
        return None
    return min(max((after.throttled - before.throttled) / (after.periods - before.periods), 0.0), 1.0)
