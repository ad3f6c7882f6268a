"""Tests of control groups and their files, for both cgroup versions."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from httpbench.host.control_groups import ControlGroups, groups_of
from tests import control_groups as fake
from tests.waiting import SPIN, until

BOTH = pytest.mark.parametrize("make", [fake.version_1, fake.version_2], ids=["version 1", "version 2"])


def groups(root: Path) -> ControlGroups:
    found = groups_of(fake.PID, root)
    assert found is not None
    return found


@BOTH
def test_limits_and_counts_are_read(make: Callable[[Path], Path], tmp_path: Path) -> None:
    make(tmp_path)
    found = groups(tmp_path)
    assert found.cpus() == 0.5
    assert found.memory_bytes() == 64 << 20
    assert found.cpuset() == (0, 1, 2, 5)
    assert found.pids() == [7, 8]
    assert found.cpu_s() == 2.5
    assert found.periods() == 10
    assert found.throttled_s() == 1.5
    assert found.memory_bytes_peak() == 1_000_000
    assert found.oom_kills() == 1


def test_missing_limits_are_none(tmp_path: Path) -> None:
    fake.version_2(tmp_path, cpu_max="max 100000\n", memory_max="max\n")
    found = groups(tmp_path)
    assert (found.cpus(), found.memory_bytes()) == (None, None)


def test_a_lower_limit_of_an_ancestor_applies(tmp_path: Path) -> None:
    group = fake.version_2(tmp_path)
    fake.write(group.parent, "cpu.max", "20000 100000\n")
    fake.write(group.parent, "memory.max", "1000000\n")
    found = groups(tmp_path)
    assert (found.cpus(), found.memory_bytes()) == (0.2, 1_000_000)


def test_a_hierarchy_mounted_from_a_subfolder_is_found(tmp_path: Path) -> None:
    """A container may see only its own part of the tree."""
    fake.write(tmp_path, "proc/7/cgroup", "0::/outer/docker/abc\n")
    fake.write(tmp_path, "proc/self/mountinfo", "25 1 0:22 /outer /mnt/groups rw - cgroup2 cgroup2 rw\n")
    fake.write(tmp_path, "mnt/groups/docker/abc/cpu.max", "50000 100000\n")
    assert groups(tmp_path).cpus() == 0.5
    fake.write(tmp_path, "proc/7/cgroup", "0::/other\n")
    assert groups_of(7, tmp_path) is None


def test_groups_that_have_ended_have_no_values(tmp_path: Path) -> None:
    group = fake.version_2(tmp_path)
    found = groups(tmp_path)
    for file in group.iterdir():
        file.unlink()
    assert (found.cpu_s(), found.memory_bytes_peak(), found.oom_kills(), found.pids()) == (None, None, None, [])


def test_a_process_that_is_gone_has_no_groups(tmp_path: Path) -> None:
    fake.version_2(tmp_path)
    assert groups_of(8, tmp_path) is None


@BOTH
def test_each_group_is_entered_once(make: Callable[[Path], Path], tmp_path: Path) -> None:
    make(tmp_path)
    entrances = groups(tmp_path).entrances("cpu", "cpuacct", "cpuset")
    assert len(entrances) == (3 if make is fake.version_1 else 1)


MOUNTS = (Path("/sys/fs/cgroup"), Path("/sys/fs/cgroup/unified"))


def test_a_real_version_2_group_counts_its_processes() -> None:
    mount = next((mount for mount in MOUNTS if (mount / "cgroup.controllers").exists()), None)
    if mount is None:
        pytest.skip("no control groups of version 2 are mounted")
    group = mount / "httpbench-test-groups"
    try:
        group.mkdir()
    except OSError as error:
        pytest.skip(f"no control group can be made: {error}")
    found = ControlGroups(dict.fromkeys(("cpu", "cpuset", "memory"), group), dict.fromkeys(("cpu", "cpuset", "memory"), mount), 2)
    try:
        with subprocess.Popen([sys.executable, "-c", SPIN]) as process:
            try:
                found.entrances("cpu", "cpuset")[0].write_text(str(process.pid))
                assert found.pids() == [process.pid]
                until(lambda: (found.cpu_s() or 0) > 0.01)
                assert found.cpus() is None
            finally:
                process.kill()
    finally:
        until(lambda: not found.pids())
        group.rmdir()


def test_our_own_groups_are_found_if_control_groups_are_mounted() -> None:
    found = groups_of(os.getpid())
    if found is None:
        pytest.skip("no control groups are mounted")
    assert found.version in (1, 2)
    assert all(folder.is_dir() for folder in found.folders.values())
