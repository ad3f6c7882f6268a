"""Choose the database of a target under a workload, and the database's cores."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from httpbench.databases import SYSTEMS
from httpbench.host import Topology, with_database
from httpbench.model import Cores, Isolation, Target, Workload
from httpbench.run.plan.spec import RunSpec

MEMORY_BYTES = 1 << 30
"""Memory limit of a database in a container."""


def database_of(target: Target, workload: Workload) -> Target | None:
    """Return the database that a target uses under a workload, or ``None``. If the target runs in a container, so does the database.

    A target from another project's catalog gets its database under every workload, because the target may not start without it.
    """
    is_used = target.entry is not None or workload.asks_database
    if not is_used or target.database is None or target.database not in SYSTEMS or target.url is not None:
        return None
    database = SYSTEMS[target.database].target
    if target.isolation is None:
        return database
    own = Isolation(engine=target.isolation.engine, memory_bytes=MEMORY_BYTES, network=target.isolation.network)
    placed = database.model_copy(update={"isolation": own})
    return placed.model_copy(update={"id": f"{database.id}{placed.place}"})


def databases_of(pairs: Iterable[tuple[Target, Workload]]) -> list[Target]:
    """Return the distinct databases of the given pairs of target and workload."""
    found = [database for target, workload in pairs if (database := database_of(target, workload))]
    return list({database.id: database for database in found}.values())


def cores_beside_database(target: Target, workload: Workload, topology: Topology, cores: Cores) -> Cores:
    """Return ``cores`` unchanged or, if the target uses a database, a division of the cores that includes the database."""
    if database_of(target, workload) is None:
        return cores
    return with_database(topology, cores, is_asked=workload.asks_database)


def with_database_cores(spec: RunSpec) -> RunSpec:
    """Return the run with cores assigned to each trial's database."""
    trials = []
    for planned in spec.plan.trials:
        target, workload = spec.targets[planned.target], spec.workloads[planned.workload]
        cores = cores_beside_database(target, workload, spec.topology, planned.cores)
        trials.append(planned.model_copy(update={"cores": cores}))
    return replace(spec, plan=replace(spec.plan, trials=tuple(trials)))
