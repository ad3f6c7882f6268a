"""How often a CPU quota stopped a program: the throttled periods of its control groups, for both versions of the interface.

A quota of any group between a process and the root applies, so all are read, and the one that throttled most counts. Reads a few small
files at each end of the period. A throttled group throttles all programs in it, so this says that a quota was reached, and not by whom.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from httpbench.model import SharedQuota

MOUNT = Path("sys/fs/cgroup")


class QuotaMeter:
    """Counts from the last ``mark()``; without one, from its creation. ``pids``: processes of one program."""

    def __init__(self, pids: Iterable[int] = (), root: Path = Path("/")):
        self._root = root
        self.mark(pids)

    def mark(self, pids: Iterable[int]) -> None:
        folders = {folder for pid in pids for folder in _folders(self._root, pid)}
        self._before = {folder: counts for folder in folders if (counts := _counts(folder))}

    def throttled_share(self) -> float | None:
        """Share of a quota's periods in which it was used up, 0 to 1. ``None``: no quota, or no time was used under one."""
        shares = [share for folder, before in self._before.items() if (share := _share(before, _counts(folder))) is not None]
        return max(shares, default=None)


class SharedQuotaMeter:
    """The quota of the control groups that a process is in: used up by all programs there. Counts from the last ``mark()``."""

    def __init__(self, root: Path = Path("/"), pid: str = "self"):
        self._root = root
        self._pid = pid
        self.mark()

    def mark(self) -> None:
        self._begin_s = time.monotonic()
        self._before = dict(self._read())

    def read(self) -> SharedQuota | None:
        """Of the group that was throttled most; ``None`` without a quota, or where the kernel does not report what was used."""
        elapsed_s = max(time.monotonic() - self._begin_s, 1e-3)
        after = dict(self._read())
        found = []
        for folder, (counts, used_s) in self._before.items():
            if folder in after and (share := _share(counts, after[folder][0])) is not None:
                found.append(SharedQuota(throttled_share=share, used_cores=(after[folder][1] - used_s) / elapsed_s))
        return max(found, key=lambda quota: quota.throttled_share, default=None)

    def _read(self) -> Iterator[tuple[Path, tuple[tuple[int, int], float]]]:
        for folder in _folders(self._root, self._pid):
            counts, used_s = _counts(folder), _used_s(folder)
            if counts and counts[0] and used_s is not None:
                yield folder, (counts, used_s)


def _share(before: tuple[int, int], after: tuple[int, int] | None) -> float | None:
    if after is None or after[0] <= before[0]:
        return None
    return min(max((after[1] - before[1]) / (after[0] - before[0]), 0.0), 1.0)


def _used_s(folder: Path) -> float | None:
    """CPU time of a group, in seconds: ``usage_usec`` of version 2, the file of the controller ``cpuacct`` of version 1."""
    pairs = dict(line.split()[:2] for line in _text(folder / "cpu.stat").splitlines())
    try:
        return int(pairs["usage_usec"]) / 1e6 if "usage_usec" in pairs else int(_text(folder / "cpuacct.usage")) / 1e9
    except ValueError:
        return None


def _folders(root: Path, pid: int | str) -> Iterator[Path]:
    """The control groups of a process that may limit its CPU time, its own first. Version 2 has the empty name."""
    for line in _text(root / f"proc/{pid}/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers and "cpu" not in controllers.split(","):
            continue
        mount = root / MOUNT / ("cpu" if controllers else "")
        folder = mount / path.lstrip("/")
        while folder != mount and mount in folder.parents:
            yield folder
            folder = folder.parent
        yield mount


def _counts(folder: Path) -> tuple[int, int] | None:
    """Periods and throttled periods (cpu.stat); ``None`` where the group has none."""
    pairs = dict(line.split()[:2] for line in _text(folder / "cpu.stat").splitlines())
    try:
        return int(pairs["nr_periods"]), int(pairs["nr_throttled"])
    except (KeyError, ValueError):
        return None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # the process ended, or the container hides it
