"""Control groups that limit CPU time, or the number of processes. They require root and a writable control group tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest

MOUNT = Path("/sys/fs/cgroup")
IS_FIRST_VERSION = (MOUNT / "cpu" / "cpu.cfs_quota_us").exists()
PERIOD_US = 10_000  # short, so that a trial of one second has many periods


def limited_to(cores: float) -> AbstractContextManager[Path]:
    """Create a group with a CPU quota."""
    quota = str(round(cores * PERIOD_US))
    if IS_FIRST_VERSION:
        return _group("cpu", {"cpu.cfs_period_us": str(PERIOD_US), "cpu.cfs_quota_us": quota})
    return _group("cpu", {"cpu.max": f"{quota} {PERIOD_US}"})


def limited_processes(count: int) -> AbstractContextManager[Path]:
    """Create a group with at most ``count`` processes and threads."""
    return _group("pids", {"pids.max": str(count)})


@contextmanager
def _group(controller: str, limits: dict[str, str]) -> Iterator[Path]:
    """Create the group, and yield the file that moves processes into it. Skip the test if that isn't possible."""
    group = MOUNT / (controller if IS_FIRST_VERSION else "") / f"httpbench-test-{os.getpid()}"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        try:
            for name, limit in limits.items():
                (group / name).write_text(limit)
        except OSError as error:
            pytest.skip(f"control groups have no limit of {controller} here: {error}")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()
