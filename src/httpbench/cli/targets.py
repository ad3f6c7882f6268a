"""Helpers that verbs use to start targets. They handle workloads, backends, databases and container engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from httpbench.cli.terminal import console
from httpbench.errors import ContainerError, SelectionError
from httpbench.host.scratch import sweep
from httpbench.model import Cores, Engine, Kind, Scaling, Target, Workload
from httpbench.report.words.numbers import plural
from httpbench.run import (
    KINDS,
    backend_of,
    cores_beside_database,
    databases_of,
    engines_left,
    engines_of,
    remove_leftovers,
    require_engine,
)

if TYPE_CHECKING:
    from httpbench.catalog import Catalog
    from httpbench.host import Topology
    from httpbench.run import Built, Upstream


def workloads_of(known: Catalog, targets: Sequence[Target], name: str | None) -> dict[Kind, Workload]:
    """Return a workload for each kind of target: the named workload, or else the usual workload of that kind.

    Raise :class:`SelectionError` if the named workload is for another kind.
    """
    kinds = [kind for kind in KINDS if any(target.kind is kind for target in targets)]
    found = {kind: known.workload(name or KINDS[kind].workload) for kind in kinds}
    for kind, workload in found.items():
        check_kind(workload, kind)
    return found


def check_kind(workload: Workload, kind: Kind) -> None:
    """Raise :class:`SelectionError` if the workload is for another kind of target."""
    if workload.kind is not kind:
        raise SelectionError(f"workload {workload.name} is for {workload.kind.plural}, not for {kind.plural}")


def with_backends(known: Catalog, targets: Sequence[Target], workloads: Mapping[Kind, Workload]) -> list[Target]:
    """Return the targets, followed by the backends and databases that these workloads require, without duplicates."""
    backends = [known.targets[name] for target in targets if (name := workloads[target.kind].backend)]
    databases = databases_of((target, workloads[target.kind]) for target in targets)
    return list({target.build_name: target for target in (*targets, *backends, *databases)}.values())


def surroundings(
    target: Target, workload: Workload, scaling: Scaling, known: Catalog, built: Built, topology: Topology
) -> tuple[Cores, Upstream | None]:
    """Return the cores for a target that isn't measured, and its backend or database."""
    cores = cores_beside_database(target, workload, topology, KINDS[target.kind].partition(topology, scaling, None))
    return cores, backend_of(target, workload, known.targets, built, cores, topology)


def prepare_engines(targets: Iterable[Target]) -> None:
    """Check that the container engines of the targets respond, and remove containers and folders that a killed run left behind.

    Other engines are checked only if a killed run may have left a container running there, because that container could use the measured
    CPUs. Raise :class:`~httpbench.errors.RequirementError` if a required engine is missing or does not respond.
    """
    sweep()
    for engine in engines_of(targets):
        require_engine(engine)
        _remove(engine)
    for engine in engines_left():
        try:
            _remove(engine)
        except ContainerError as error:
            fix = f"; fix: {error.hint}" if error.hint else ""
            what = f"a container from an earlier run of httpbench may still be running: {error.message}{fix}"
            console.warn(what)


def _remove(engine: Engine) -> None:
    if removed := remove_leftovers(engine):
        console.echo(f"removed {plural(len(removed), 'container')} left behind when an earlier run of httpbench was killed", err=True)
