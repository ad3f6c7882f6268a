"""What the verbs that start targets of any kind share: the workload of each kind, and the backends of proxies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from httpbench.catalog import Catalog
from httpbench.errors import SelectionError
from httpbench.model import Kind, Target, Workload
from httpbench.run import KINDS, databases_of


def workloads_of(known: Catalog, targets: Sequence[Target], name: str | None) -> dict[Kind, Workload]:
    """For each kind of the targets, the workload of that name, or the kind's usual one.

    Raises :class:`SelectionError` if it is for another kind.
    """
    kinds = [kind for kind in KINDS if any(target.kind is kind for target in targets)]
    found = {kind: known.workload(name or KINDS[kind].workload) for kind in kinds}
    for kind, workload in found.items():
        check_kind(workload, kind)
    return found


def check_kind(workload: Workload, kind: Kind) -> None:
    """Raises :class:`SelectionError` if the workload is for another kind."""
    if workload.kind is not kind:
        raise SelectionError(f"workload {workload.name} is for {workload.kind.plural}, not for {kind.plural}")


def with_backends(known: Catalog, targets: Sequence[Target], workloads: Mapping[Kind, Workload]) -> list[Target]:
    """The targets, and the backends and databases that they have under these workloads, each once."""
    backends = [known.targets[name] for target in targets if (name := workloads[target.kind].backend)]
    databases = databases_of((target, workloads[target.kind]) for target in targets)
    return list({target.id: target for target in (*targets, *backends, *databases)}.values())
