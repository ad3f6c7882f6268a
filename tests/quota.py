"""A control group with a CPU quota of less than one core, which slows programs down. It requires root and a writable control group tree."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

MOUNT = Path("/sys/fs/cgroup")
PERIOD_US = 10_000  # short, so that a trial of one second has many periods


@contextmanager
def limited_to(cores: float) -> Iterator[Path]:
    """Create the group, and yield the file that moves processes into it. Skip the test if that isn't possible."""
    is_first_version = (MOUNT / "cpu" / "cpu.cfs_quota_us").exists()
    group = MOUNT / ("cpu" if is_first_version else "") / f"httpbench-test-{os.getpid()}"
    quota = str(round(cores * PERIOD_US))
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    try:
        try:
            if is_first_version:
                (group / "cpu.cfs_period_us").write_text(str(PERIOD_US))
                (group / "cpu.cfs_quota_us").write_text(quota)
            else:
                (group / "cpu.max").write_text(f"{quota} {PERIOD_US}")
        except OSError as error:
            pytest.skip(f"control groups do not limit CPU time here: {error}")
        yield group / "cgroup.procs"
    finally:
        group.rmdir()
