from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.host import Core, Topology, partition, partition_for_load_host, partition_for_proxy, with_database
from httpbench.model import Cores, Scaling

FILLING = (Scaling.MULTI, Scaling.PREFORK)


def machine(count: int, threads: int = 1, nodes: int = 1) -> Topology:
    """Return cores with siblings numbered as on Linux: CPUs n and n + count share a core."""
    found = []
    for number in range(count):
        cpus = tuple(number + count * thread for thread in range(threads))
        found.append(Core(cpus, cpus, number * nodes // count, 1024))
    return Topology(tuple(found))


topologies = st.builds(machine, st.integers(1, 64), st.integers(1, 4), st.integers(1, 2))


@given(topologies, st.sampled_from(Scaling))
def test_every_program_gets_whole_existing_cores(topology: Topology, scaling: Scaling) -> None:
    cores = partition(topology, scaling)
    for cpus in (cores.target, cores.generator, cores.harness):
        assert cpus
        assert set(cpus) <= set(topology.cpus)
        assert all(set(core.cpus) <= set(cpus) or not set(core.cpus) & set(cpus) for core in topology.cores)


@given(topologies, st.sampled_from(Scaling))
def test_every_core_is_used(topology: Topology, scaling: Scaling) -> None:
    cores = partition(topology, scaling)
    assert {*cores.target, *cores.generator, *cores.harness} == set(topology.cpus)


@given(topologies, st.sampled_from(Scaling))
def test_shared_is_set_only_if_generator_and_target_share_a_core(topology: Topology, scaling: Scaling) -> None:
    cores = partition(topology, scaling)
    assert cores.shared == bool(set(cores.target) & set(cores.generator))
    assert cores.shared or not set(cores.target) & set(cores.harness)


@given(topologies)
def test_a_single_target_gets_one_core(topology: Topology) -> None:
    cores = partition(topology, Scaling.SINGLE)
    assert cores.target in [core.cpus for core in topology.cores]
    assert cores.shared == (len(topology.cores) == 1)


@given(topologies, st.sampled_from(FILLING))
def test_a_target_that_fills_cores_gets_half_of_them_and_at_least_two_if_possible(topology: Topology, scaling: Scaling) -> None:
    count, threads = len(topology.cores), len(topology.cores[0].cpus)
    target = len(partition(topology, scaling).target) // threads
    assert target == (count // 2 if count >= 4 else count)


@given(topologies, st.sampled_from(Scaling))
def test_the_harness_gets_a_core_only_if_the_generator_can_spare_it(topology: Topology, scaling: Scaling) -> None:
    cores = partition(topology, scaling)
    own = not set(cores.harness) & set(cores.generator)
    assert own == (len(topology.cores) >= (4 if scaling is Scaling.SINGLE else 5))


@pytest.mark.parametrize(
    ("count", "scaling", "expected"),
    [
        (1, Scaling.SINGLE, Cores(target=(0,), generator=(0,), harness=(0,), shared=True)),
        (2, Scaling.SINGLE, Cores(target=(1,), generator=(0,), harness=(0,), shared=False)),
        (2, Scaling.MULTI, Cores(target=(0, 1), generator=(0, 1), harness=(0, 1), shared=True)),
        (3, Scaling.PREFORK, Cores(target=(0, 1, 2), generator=(0, 1, 2), harness=(0, 1, 2), shared=True)),
        (4, Scaling.SINGLE, Cores(target=(3,), generator=(1, 2), harness=(0,), shared=False)),
        (4, Scaling.MULTI, Cores(target=(2, 3), generator=(0, 1), harness=(0, 1), shared=False)),
        (6, Scaling.PREFORK, Cores(target=(3, 4, 5), generator=(1, 2), harness=(0,), shared=False)),
    ],
)
def test_cores_degrade_in_the_documented_order(count: int, scaling: Scaling, expected: Cores) -> None:
    assert partition(machine(count), scaling) == expected


def test_the_target_stays_on_one_node() -> None:
    topology = machine(8, threads=2, nodes=2)
    target = partition(topology, Scaling.MULTI).target
    assert {core.node for core in topology.cores if set(core.cpus) <= set(target)} == {1}


@given(topologies, st.sampled_from(Scaling))
def test_a_proxy_gets_its_own_cores_and_the_others_do_not_move(topology: Topology, scaling: Scaling) -> None:
    cores = partition_for_proxy(topology, scaling)
    alone = len(topology.cores) == 1
    assert {*cores.target, *cores.backend, *cores.generator, *cores.harness} == set(topology.cpus)
    assert cores.shared == alone == bool(set(cores.target) & {*cores.backend, *cores.generator, *cores.harness})
    assert cores.backend_shared == (len(topology.cores) < 3)
    assert all(cpus for cpus in (cores.target, cores.backend, cores.generator, cores.harness))


def test_six_cores_give_two_to_each_program() -> None:
    cores = partition_for_proxy(machine(6), Scaling.MULTI)
    assert (cores.generator, cores.backend, cores.target) == ((0, 1), (2, 3), (4, 5))


@given(topologies, st.sampled_from(Scaling), st.sampled_from([partition, partition_for_proxy]))
def test_siblings_stay_grouped(topology: Topology, scaling: Scaling, divide: Callable[[Topology, Scaling], Cores]) -> None:
    cores = divide(topology, scaling)
    assert cores.physical(topology.cpus) == len(topology.cores)
    assert cores.physical(cores.target) == len(topology.groups(cores.target))


@given(topologies, st.sampled_from(FILLING), st.integers(1, 64), st.sampled_from([partition, partition_for_proxy]))
def test_the_user_can_choose_the_targets_number_of_cores(
    topology: Topology, scaling: Scaling, wanted: int, divide: Callable[[Topology, Scaling, int | None], Cores]
) -> None:
    count = len(topology.cores)
    given_cores = min(wanted, count)
    cores = divide(topology, scaling, given_cores)
    assert cores.physical(cores.target) == given_cores
    assert cores.shared == (given_cores == count) == bool(set(cores.target) & set(cores.generator))
    assert {*cores.target, *cores.generator, *cores.harness, *cores.backend} == set(topology.cpus)
    assert cores.generator and cores.harness


@pytest.mark.parametrize(
    ("count", "wanted", "expected"),
    [
        (2, 1, Cores(target=(1,), generator=(0,), harness=(0,), shared=False)),
        (2, 2, Cores(target=(0, 1), generator=(0, 1), harness=(0, 1), shared=True)),
        (4, 3, Cores(target=(1, 2, 3), generator=(0,), harness=(0,), shared=False)),
        (8, 2, Cores(target=(6, 7), generator=(1, 2, 3, 4, 5), harness=(0,), shared=False)),
    ],
)
def test_the_generator_gets_the_cores_that_the_target_leaves(count: int, wanted: int, expected: Cores) -> None:
    assert partition(machine(count), Scaling.MULTI, wanted) == expected


@pytest.mark.parametrize(
    ("count", "wanted", "expected"),
    [
        (6, 2, Cores(target=(4, 5), backend=(2, 3), generator=(0, 1), harness=(0, 1), shared=False)),
        (4, 2, Cores(target=(2, 3), backend=(1,), generator=(0,), harness=(0,), shared=False)),
        (4, 3, Cores(target=(1, 2, 3), backend=(0,), generator=(0,), harness=(0,), shared=False)),
    ],
)
def test_a_proxy_can_get_two_cores(count: int, wanted: int, expected: Cores) -> None:
    assert partition_for_proxy(machine(count), Scaling.MULTI, wanted) == expected


def test_siblings_that_we_may_not_use_are_recorded_but_are_not_cores() -> None:
    """In a container that may use only one thread of each core, programs on the other threads can disturb a run."""
    topology = Topology(tuple(Core((cpu,), (cpu, cpu + 4), 0, 1024) for cpu in range(4)))
    cores = partition(topology, Scaling.SINGLE)
    assert (cores.target, cores.generator, cores.harness) == ((3,), (1, 2), (0,))
    assert cores.measured == {1, 2, 3, 5, 6, 7}
    assert cores.with_siblings(cores.target) == {3, 7}
    assert cores.physical(cores.measured) == 3


@pytest.mark.parametrize(
    ("count", "scaling", "target", "harness"),
    [
        (1, Scaling.SINGLE, (0,), (0,)),
        (2, Scaling.SINGLE, (1,), (0,)),
        (2, Scaling.MULTI, (1,), (0,)),
        (8, Scaling.MULTI, tuple(range(1, 8)), (0,)),
    ],
)
def test_a_load_host_frees_the_generators_cores(count: int, scaling: Scaling, target: tuple[int, ...], harness: tuple[int, ...]) -> None:
    cores = partition_for_load_host(partition, machine(count), scaling)
    assert (cores.target, cores.generator, cores.harness, cores.shared) == (target, (), harness, False)


@given(topologies, st.sampled_from(Scaling))
def test_with_a_load_host_a_proxy_and_its_backend_keep_their_cores(topology: Topology, scaling: Scaling) -> None:
    here, there = partition_for_proxy(topology, scaling), partition_for_load_host(partition_for_proxy, topology, scaling)
    assert (there.target, there.backend, there.harness) == (here.target, here.backend, here.harness)
    assert there.generator == () and not there.shared and not there.backend_shared


# --- a database next to a server ------------------------------------------------------------------------------------------------


@given(topologies, st.sampled_from(Scaling), st.booleans())
def test_a_database_takes_nothing_from_the_target(topology: Topology, scaling: Scaling, is_asked: bool) -> None:
    before = partition(topology, scaling)
    cores = with_database(topology, before, is_asked=is_asked)
    assert cores.target == before.target
    assert cores.database
    assert cores.generator
    assert cores.harness
    assert cores.shared or not set(cores.database) & set(cores.target)
    assert {*cores.generator, *cores.database} == set(before.generator)


@given(topologies, st.sampled_from(Scaling))
def test_a_queried_database_gets_whole_cores_if_the_generator_has_two(topology: Topology, scaling: Scaling) -> None:
    before = partition(topology, scaling)
    cores = with_database(topology, before, is_asked=True)
    has_own = not before.shared and before.physical(before.generator) > 1
    if all(len(core.cpus) == 1 for core in topology.cores):
        assert cores.database_shared != has_own
    assert all(set(core.cpus) <= set(cores.database) or not set(core.cpus) & set(cores.database) for core in topology.cores)


@pytest.mark.parametrize(
    ("count", "target", "database", "generator"),
    [(1, (0,), (0,), (0,)), (2, (1,), (0,), (0,)), (3, (2,), (1,), (0,)), (4, (3,), (2,), (1,)), (8, (7,), (3, 4, 5, 6), (1, 2))],
)
def test_a_server_on_one_core_has_a_database_beside_it(
    count: int, target: tuple[int, ...], database: tuple[int, ...], generator: tuple[int, ...]
) -> None:
    topology = machine(count)
    cores = with_database(topology, partition(topology, Scaling.SINGLE), is_asked=True)
    assert (cores.target, cores.database, cores.generator) == (target, database, generator)


def test_a_load_host_leaves_its_cores_to_the_database() -> None:
    topology = machine(4)
    before = partition_for_load_host(partition, topology, Scaling.SINGLE)
    cores = with_database(topology, before, is_asked=True)
    assert (cores.target, cores.generator, cores.harness) == (before.target, (), before.harness)
    assert set(cores.database) == set(topology.cpus) - {*before.target, *before.harness}
