"""Checks a run before anything is built: whether its loads can be made, and whether a program is missing."""

from __future__ import annotations

from dataclasses import replace

from httpbench import load
from httpbench.errors import RequirementError
from httpbench.load import LoadGenerator
from httpbench.model import Load
from httpbench.run.builds.states import unmet
from httpbench.run.kinds import KINDS
from httpbench.run.measure.warmup import GENERATOR
from httpbench.run.spec import RunSpec


def refusals(spec: RunSpec) -> list[str]:
    """What of the plan the load generator or this machine cannot do, a sentence each."""
    loads = {
        (spec.targets[planned.target].kind, planned.load_generator, planned.workload, planned.load): planned for planned in spec.plan.trials
    }
    found = [
        KINDS[kind].refuses(spec.generators[name], planned, spec.workloads[planned.workload])
        for (kind, name, _, _), planned in loads.items()
    ]
    return list(dict.fromkeys(filter(None, found)))


def require_programs(spec: RunSpec) -> None:
    """Looks for what every trial requires: the load generator or timer, programs of ours, the toolchain of a proxy's backend.

    Raises :class:`~httpbench.errors.LoadError` or :class:`~httpbench.errors.RequirementError` if one is missing.
    """
    for kind in {spec.targets[planned.target].kind for planned in spec.plan.trials}:
        for generator in spec.generators.values():
            KINDS[kind].require_programs(generator)
    for name in dict.fromkeys(filter(None, (spec.workloads[planned.workload].backend for planned in spec.plan.trials))):
        if missing := unmet(spec.targets[name]):
            reasons, fix = missing
            raise RequirementError(f"{name}, the server behind the proxies, requires {reasons}", hint=fix)


def with_warmup_of_its_own(spec: RunSpec) -> RunSpec:
    """The same run with warm-ups by its own load generators, if ours is missing.

    Only ours sees when throughput is steady. So these warm-ups last as long as they may.
    """
    if not any(isinstance(generator, LoadGenerator) for generator in spec.generators.values()) or load.get(GENERATOR).locate() is not None:
        return spec
    trials = [planned.model_copy(update={"load": _fixed(planned.load)}) for planned in spec.plan.trials]
    return replace(spec, plan=replace(spec.plan, trials=tuple(trials)))


def _fixed(given: Load) -> Load:
    if given.warmup_max_s is None:
        return given
    return given.model_copy(update={"warmup_s": given.warmup_max_s, "warmup_max_s": None})
