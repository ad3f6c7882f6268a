"""Decide which program runs on which cores.

Cores are divided by physical core. Two threads on SMT siblings slow each other down by a third or more, depending on their work, so
different programs never get siblings of one core. If there are too few cores, the division degrades in this order:

1. The target, the generator and the harness have their own cores. This takes 4 physical cores, or 5 for ``multi`` and ``prefork``. With 4,
   the generator would have only half as many cores as the target.
2. The harness shares the generator's cores, because the harness sleeps nearly all the time.
3. With ``multi`` and ``prefork`` on 2 or 3 cores, the target gets all cores, because it is meant to fill them, and the generator shares
   them.
4. On a machine with one core, all programs share it.

From step 3 on, ``shared`` is set and every table reports shared cores. The target gets the last cores in the topology's order. They are the
fastest cores, on one NUMA node if possible, and far from CPU 0, where most kernels handle timers and interrupts.

A proxy runs between its backend and the generator. For the baseline, the generator sends requests directly to the backend, and both must
have the same cores as with the proxy. The division is therefore different:

1. With 8 or more physical cores, the proxy, the backend, the generator and the harness have their own cores.
2. With 3 or more cores, the harness shares the generator's cores. A ``single`` proxy gets one core; otherwise each program gets a third.
3. On two cores, the proxy has one core, and the backend and the generator share the other. The baseline includes the same cost of sharing,
   so this cost cancels out in the overhead.
4. On a machine with one core, all programs share it.

A server has the same cores with and without a database, so that all its workloads are measured on the same cores. The database gets two
thirds of the generator's cores, rounded down. If the generator runs on a load host, the database gets the free cores of this machine. If
the generator has only one core, the database shares it with the generator, which uses less CPU time per request than the database.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from httpbench.host.cores.topology import Core, Topology
from httpbench.model import Cores, Scaling

Divide = Callable[[Topology, Scaling, int | None], Cores]
Part = Sequence[Core]

CORES_BESIDE_TARGET_FOR_HARNESS = 3
CORES_FOR_HARNESS_BESIDE_PROXY = 8
CORES_TO_DIVIDE = {Scaling.SINGLE: 2, Scaling.MULTI: 4, Scaling.PREFORK: 4}


def partition(topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """Divide the physical cores. A ``single`` target gets one core, and other targets get half of the cores, rounded down.

    ``for_target`` overrides the target's number of cores. If the target gets all cores, the other programs share them.
    """
    cores = topology.cores
    count = len(cores)
    shared = count < CORES_TO_DIVIDE[scaling] if for_target is None else for_target >= count
    if shared:
        return _divided(topology, cores, cores, cores, shared=True)
    for_target = for_target or (1 if scaling is Scaling.SINGLE else count // 2)
    rest, target = cores[:-for_target], cores[-for_target:]
    if len(rest) < CORES_BESIDE_TARGET_FOR_HARNESS:
        return _divided(topology, target, rest, rest)
    return _divided(topology, target, rest[1:], rest[:1])


def partition_for_proxy(topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """Divide the physical cores into three parts. A ``single`` proxy gets one core; other proxies get a third, like the backend.

    ``for_target`` overrides the proxy's number of cores. If the proxy gets all cores, the other programs share them.
    """
    cores = topology.cores
    count = len(cores)
    if count == 1 or (for_target or 0) >= count:
        return _divided(topology, cores, cores, cores, cores, shared=True)
    third = max(count // 3, 1)
    for_target = for_target or (1 if scaling is Scaling.SINGLE else third)
    target, rest = cores[-for_target:], cores[:-for_target]
    for_backend = max(min(third, len(rest) - 1), 1)
    backend = rest[-for_backend:]
    generator = rest[:-for_backend] or rest
    if count < CORES_FOR_HARNESS_BESIDE_PROXY or len(generator) == 1:
        return _divided(topology, target, generator, generator, backend)
    return _divided(topology, target, generator[1:], generator[:1], backend)


def partition_for_load_host(divide: Divide, topology: Topology, scaling: Scaling, for_target: int | None = None) -> Cores:
    """Divide this machine's cores with ``divide``, for a load generator on another host.

    The cores that a local generator would use stay unused, unless it would share them with other programs. A ``multi`` or ``prefork``
    server gets all cores except one, which the harness gets.
    """
    if for_target is None and scaling is not Scaling.SINGLE and divide is partition:
        for_target = max(len(topology.cores) - 1, 1)
    return divide(topology, scaling, for_target).model_copy(update={"generator": (), "shared": False})


def with_database(topology: Topology, cores: Cores, *, is_asked: bool) -> Cores:
    """Assign cores to a database. A database that isn't queried is nearly idle, so it shares the generator's cores."""
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


def _divided(topology: Topology, target: Part, generator: Part, harness: Part, backend: Part = (), *, shared: bool = False) -> Cores:
    """Return the logical CPUs of these cores, and the groups of SMT siblings, including CPUs that we may not use."""
    siblings = tuple(sorted(core.siblings for core in topology.cores if len(core.siblings) > 1))
    return Cores(
        target=_cpus(target), generator=_cpus(generator), harness=_cpus(harness), backend=_cpus(backend), shared=shared, siblings=siblings
    )


def _cpus(cores: Part) -> tuple[int, ...]:
    return _flat([core.cpus for core in cores])


def _flat(groups: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(sorted(cpu for group in groups for cpu in group))
