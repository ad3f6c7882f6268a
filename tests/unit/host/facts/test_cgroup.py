from __future__ import annotations

from pathlib import Path

from httpbench.host.control_groups import groups_of
from tests.unit.host.fake import CGROUP_1, CGROUP_2, write


def limits(root: Path) -> tuple[int, float | None, int | None]:
    """Return the version of control groups, and the limits on CPU time in cores and on memory in bytes."""
    groups = groups_of(root=root)
    assert groups is not None
    return groups.version, groups.cpus(), groups.memory_bytes()


def test_the_lowest_limit_of_all_ancestors_applies(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **CGROUP_2,
            "proc/self/cgroup": "0::/a/b",
            "sys/fs/cgroup/a/cpu.max": "150000 100000",
            "sys/fs/cgroup/a/b/cpu.max": "max 100000",
            "sys/fs/cgroup/a/memory.max": "4096000",
            "sys/fs/cgroup/a/b/memory.max": "max",
        },
    )
    assert limits(tmp_path) == (2, 1.5, 4096000)


def test_version_1_has_a_hierarchy_for_each_controller(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **CGROUP_1,
            "proc/self/cgroup": "4:memory:/box\n2:cpu,cpuacct:/\n0::/",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
            "sys/fs/cgroup/memory/box/memory.limit_in_bytes": "268435456",
        },
    )
    assert limits(tmp_path) == (1, 0.5, 268435456)


def test_no_limit_is_none(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **CGROUP_1,
            "proc/self/cgroup": "4:memory:/\n2:cpu:/",
            "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
            "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712",
        },
    )
    assert limits(tmp_path) == (1, None, None)


def test_a_container_sees_its_own_group_as_the_root(tmp_path: Path) -> None:
    write(
        tmp_path,
        {
            **CGROUP_2,
            "proc/self/cgroup": "0::/../../outside/of/what/is/mounted",
            "sys/fs/cgroup/cpu.max": "200000 100000",
        },
    )
    assert limits(tmp_path) == (2, 2.0, None)


def test_without_mounted_groups_there_are_none(tmp_path: Path) -> None:
    assert groups_of(root=tmp_path) is None
