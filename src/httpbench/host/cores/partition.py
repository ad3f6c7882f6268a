"""Which program runs on which cores.

The unit is the physical core: two threads on SMT siblings slow each other by a third or more, and by how much depends on what the other
one does, so siblings are never given to different programs. The order of degradation, where cores are too few:

1. target, generator and harness have cores of their own (from 4 physical cores; for ``multi`` and ``prefork`` from 5, because
   there the harness would leave the generator with half of what the target has);
2. the harness shares the generator's cores: it sleeps nearly all the time, the generator does not;
3. ``multi`` and ``prefork`` with 2 or 3 cores: the target gets all, as it is meant to fill them, and the generator shares them;
4. one core: everything shares it.

From step 3 on ``shared`` is set, and every table says so. The target gets cores from the end of the topology's order: the fastest
kind, on one node as far as they go, and away from CPU 0, where most kernels handle their timers and interrupts.

A proxy is measured between two others, its backend and the generator, and both must stay where they are without it: the
baseline is the same two on the same cores. So the order differs:

1. proxy, backend, generator and harness have cores of their own (from 8 physical cores);
2. the harness shares the generator's cores (from 3; ``single`` gives one core to the proxy, the others a third to each program);
3. two cores: the proxy has one to itself, and backend and generator share the other: what they cost each other is in the baseline too,
   so it cancels out of the overhead;
4. one core: everything shares it.

A server that asks a database keeps its cores, so that its figures under all workloads are of the same ones. The database gets two thirds
of the generator's cores, rounded down, or those that a load generator elsewhere leaves free. With one core for the generator, both share
it: nothing else is left, and a request to a database costs the generator less than the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from httpbench.host.cores.topology import Core, Topology
from httpbench.model import Cores, Scaling

Divide = Callable[[Topology, Scaling, int | None], Cores]

CORES_BESIDE_TARGET_FOR_HARNESS = 3
CORES_FOR_HARNESS_BESIDE_PROXY = 8
CORES_TO_DIVIDE = {Scaling.SINGLE: 2, Scaling.MULTI: 4, Scaling.PREFORK: 4}


def partition(topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """Divides the physical cores. ``single``: the target gets one; ``multi`` and ``prefork``: half of them, rounded down.

    ``for_target``: what the user gives the target instead. If that is all, the others share them.
    """
    cores, siblings = topology.cores, _siblings(topology)
    count = len(cores)
    shared = count < CORES_TO_DIVIDE[scaling] if for_target is None else for_target >= count
    if shared:
        return Cores(target=topology.cpus, generator=topology.cpus, harness=topology.cpus, shared=True, siblings=siblings)
    for_target = for_target or (1 if scaling is Scaling.SINGLE else count // 2)
    rest, target = cores[:-for_target], cores[-for_target:]
    if len(rest) < CORES_BESIDE_TARGET_FOR_HARNESS:
        return Cores(target=_cpus(target), generator=_cpus(rest), harness=_cpus(rest), shared=False, siblings=siblings)
    return Cores(target=_cpus(target), generator=_cpus(rest[1:]), harness=_cpus(rest[:1]), shared=False, siblings=siblings)


def partition_for_proxy(topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """Divides the physical cores in three. ``single``: the proxy gets one; ``multi`` and ``prefork``: a third, as the backend does.

    ``for_target``: what the user gives the proxy instead. If that is all, the others share them.
    """
    cores, siblings = topology.cores, _siblings(topology)
    count = len(cores)
    if count == 1 or (for_target or 0) >= count:
        cpus = topology.cpus
        return Cores(target=cpus, generator=cpus, harness=cpus, backend=cpus, shared=True, siblings=siblings)
    third = max(count // 3, 1)
    for_target = for_target or (1 if scaling is Scaling.SINGLE else third)
    target, rest = cores[-for_target:], cores[:-for_target]
    for_backend = max(min(third, len(rest) - 1), 1)
    backend = rest[-for_backend:]
    generator = rest[:-for_backend] or rest
    if count < CORES_FOR_HARNESS_BESIDE_PROXY or len(generator) == 1:
        harness = generator
    else:
        harness, generator = generator[:1], generator[1:]
    return Cores(
        target=_cpus(target), generator=_cpus(generator), harness=_cpus(harness), backend=_cpus(backend), shared=False, siblings=siblings
    )


def partition_for_load_host(divide: Divide, topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """As ``divide`` does it, for a load generator on another host: its cores here go to nobody, or where it shares them to the others.

    A server that fills cores gets all but one, which is the harness's.
    """
    if for_target is None and scaling is not Scaling.SINGLE and divide is partition:
        for_target = max(len(topology.cores) - 1, 1)
    return divide(topology, scaling, for_target).model_copy(update={"generator": (), "shared": False})


def with_database(topology: Topology, cores: Cores, *, is_asked: bool) -> Cores:
    """The division with cores for a database. One that is not asked for responses shares the generator's, as it does next to nothing."""
    taken = {*cores.target, *cores.generator, *cores.harness}
    free = tuple(cpu for cpu in topology.cpus if cpu not in taken)
    groups = topology.groups(cores.generator)
    if cores.shared or not is_asked:
        return cores.model_copy(update={"database": cores.generator or cores.harness})
    if not groups:
        return cores.model_copy(update={"database": free or cores.harness})
    if len(groups) == 1:
        return cores.model_copy(update={"database": cores.generator})
    count = len(groups) * 2 // 3
    own, rest = groups[-count:], groups[:-count]
    harness = cores.harness if set(cores.harness) != set(cores.generator) else _flat(rest)
    return cores.model_copy(update={"database": _flat(own), "generator": _flat(rest), "harness": harness})


def _flat(groups: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(cpu for group in groups for cpu in group))


def _cpus(cores: tuple[Core, ...]) -> tuple[int, ...]:
    return tuple(sorted(cpu for core in cores for cpu in core.cpus))


def _siblings(topology: Topology) -> tuple[tuple[int, ...], ...]:
    """The logical CPUs of each physical core that has more than one, those that we may not use included."""
    return tuple(sorted(core.siblings for core in topology.cores if len(core.siblings) > 1))
