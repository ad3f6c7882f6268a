"""How often a CPU quota stopped a program: the throttled periods of its control groups, for both versions of the interface.

A quota of any group between a process and the root applies, so all are read, and the one that throttled most counts. Reads a few small
files at each end of the period. A throttled group throttles all programs in it, so this says that a quota was reached, and not by whom.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

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


def _share(before: tuple[int, int], after: tuple[int, int] | None) -> float | None:
    if after is None or after[0] <= before[0]:
        return None
    return min(max((after[1] - before[1]) / (after[0] - before[0]), 0.0), 1.0)


def _folders(root: Path, pid: int) -> Iterator[Path]:
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
