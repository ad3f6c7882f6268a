"""Checks a run before anything is built: whether its loads can be made, and whether a program is missing."""

from __future__ import annotations

from httpbench.run.kinds import KINDS
from httpbench.run.spec import RunSpec


def refusals(spec: RunSpec) -> list[str]:
    """What of the plan the load generator or this machine cannot do, a sentence each."""
    loads = {(spec.targets[planned.target].kind, planned.workload, planned.load): planned for planned in spec.plan.trials}
    found = [KINDS[kind].refuses(spec.generator, planned, spec.workloads[planned.workload]) for (kind, _, _), planned in loads.items()]
    return list(dict.fromkeys(filter(None, found)))


def require_programs(spec: RunSpec) -> None:
    """Raises :class:`~httpbench.errors.LoadError` if a load generator, or a program of httpbench, is missing."""
    for kind in {spec.targets[planned.target].kind for planned in spec.plan.trials}:
        KINDS[kind].require_programs(spec.generator)
