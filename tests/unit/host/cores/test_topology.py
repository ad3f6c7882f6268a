from __future__ import annotations

import os
from pathlib import Path

from httpbench.host import core_groups, read_topology
from tests.unit.host.fake import CPU, cores, write


def test_siblings_form_one_core_with_its_node(tmp_path: Path) -> None:
    cores(tmp_path, "0,4", "1,5", "2,6", "3,7", nodes=("0-1,4-5", "2-3,6-7"))
    topology = read_topology(tmp_path, range(8))
    assert [(core.cpus, core.node) for core in topology.cores] == [((0, 4), 0), ((1, 5), 0), ((2, 6), 1), ((3, 7), 1)]
    assert topology.cpus == tuple(range(8))


def test_only_usable_cpus_count_but_their_siblings_are_known(tmp_path: Path) -> None:
    cores(tmp_path, "0,2", "1,3")
    topology = read_topology(tmp_path, {1, 2, 3})
    assert [(core.cpus, core.siblings) for core in topology.cores] == [((1, 3), (1, 3)), ((2,), (0, 2))]


def test_slow_cores_are_assigned_first(tmp_path: Path) -> None:
    cores(tmp_path, "0", "1", "2", "3", capacities=(1024, 1024, 446, 446))
    assert [core.cpus for core in read_topology(tmp_path, range(4)).cores] == [(2,), (3,), (0,), (1,)]


def test_the_older_file_name_is_read(tmp_path: Path) -> None:
    write(tmp_path, {f"{CPU}/cpu{cpu}/topology/thread_siblings_list": "0-1" for cpu in (0, 1)})
    assert [core.cpus for core in read_topology(tmp_path, {0, 1}).cores] == [(0, 1)]


def test_without_kernel_files_each_cpu_is_a_core(tmp_path: Path) -> None:
    assert [core.cpus for core in read_topology(tmp_path, {3, 1}).cores] == [(1,), (3,)]


def test_cpus_are_grouped_by_core(tmp_path: Path) -> None:
    cores(tmp_path, "0,4", "1,5", "2,6", "3,7")
    assert core_groups((5, 2, 1, 6), tmp_path) == ((1, 5), (2, 6))


def test_groups_of_some_cpus_match_those_of_all(tmp_path: Path) -> None:
    cores(tmp_path, "0,4", "1,5", "2,6", "3,7", capacities=(1024,) * 4 + (446,) * 4)
    topology = read_topology(tmp_path, range(8))
    for cpus in ((5, 2, 1, 6), (7, 0), (3,), range(8)):
        assert topology.groups(cpus) == core_groups(tuple(cpus), tmp_path)


def test_this_machine_has_a_topology() -> None:
    assert set(read_topology().cpus) == os.sched_getaffinity(0)
