"""Decide which tables are measured in slices, and put the trials of such a table next to each other in each round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from itertools import groupby

from httpbench.errors import UsageError
from httpbench.load import Native
from httpbench.model import Kind, Load, NetworkMode, Target, TrialPlan
from httpbench.run.database.choice import database_of
from httpbench.run.plan.spec import RunSpec

SLICE_S = 0.1
"""Usual length of a slice, in seconds."""

SLICE_S_MIN = 0.05
SLICES_MIN = 4
"""Minimum number of slices. A short measurement has shorter slices instead of fewer slices."""

SAME_PORT = "all of them use the same port"


class Interleave(StrEnum):
    """Ways in which the targets of a table alternate."""

    AUTO = "auto"
    SLICES = "slices"
    ROUNDS = "rounds"


def with_slices(spec: RunSpec, interleave: Interleave) -> RunSpec:
    """Return the run with slices for the tables that allow them.

    Args:
        spec: The run, complete except for its load hosts.
        interleave: The user's choice. Raises :class:`UsageError` if the user requires slices and a table can't be measured in slices.
    """
    if interleave is Interleave.ROUNDS:
        return spec
    trials: list[TrialPlan] = []
    for _, planned in groupby(spec.plan.trials, key=lambda one: one.round):
        for table in _tables(list(planned)):
            reason = why_not(spec, table)
            if reason and interleave is Interleave.SLICES:
                raise UsageError(f"targets cannot take turns in slices: {reason}", hint="use --interleave rounds")
            sliced = {} if reason else {"slices": slices_of(table[0].load)}
            trials += [one.model_copy(update={**sliced, "number": len(trials) + at}) for at, one in enumerate(table)]
    return replace(spec, plan=replace(spec.plan, trials=tuple(trials)))


def slices_of(load: Load) -> int:
    """Return the number of slices of a measurement."""
    return max(round(load.duration_s / SLICE_S), min(SLICES_MIN, int(load.duration_s / SLICE_S_MIN + 1e-9)), 1)


def tables_of(trials: Sequence[TrialPlan]) -> list[list[TrialPlan]]:
    """Group neighboring trials whose targets take turns. Each trial without slices is a separate group."""
    return [list(group) for _, group in groupby(trials, key=lambda one: (one.round, *_table(one)) if one.slices else one.number)]


def _tables(planned: Sequence[TrialPlan]) -> list[list[TrialPlan]]:
    """Group the trials of a round by table, with the tables in the order of their first trials."""
    found: dict[object, list[TrialPlan]] = {}
    for one in planned:
        found.setdefault(_table(one), []).append(one)
    return list(found.values())


def _table(planned: TrialPlan) -> tuple[object, ...]:
    return (planned.scaling, planned.workload, planned.load, planned.load_generator, planned.cores, planned.workers)


def _has_fixed_port(target: Target) -> bool:
    """Return whether a target runs in a container on this machine's network and its port can't be chosen."""
    placed = target.isolation
    if placed is None or placed.network is not NetworkMode.HOST:
        return False
    return target.container.fixed_port or placed.port is not None or placed.image is not None


def why_not(spec: RunSpec, table: Sequence[TrialPlan]) -> str | None:
    """Return why the targets of a table can't take turns, or ``None`` if they can."""
    if len(table) < 2:
        return "there is only one target"
    return why_no_slices(spec, table) or (SAME_PORT if _use_same_port(spec, table) else None)


def why_no_slices(spec: RunSpec, table: Sequence[TrialPlan]) -> str | None:
    """Return why no target of a table can be measured in slices, even alone, or ``None`` if each can."""
    targets, workload, load = [spec.targets[one.target] for one in table], spec.workloads[table[0].workload], table[0].load
    reasons = {
        "clients are measured as whole processes": any(target.kind is Kind.CLIENT for target in targets),
        "each start is measured by itself": load.is_of_startup,
        "a server that was already running cannot be frozen": any(target.url is not None for target in targets),
        "only the native load generator can measure in slices": not isinstance(spec.generators[table[0].load_generator], Native),
        "the backend runs on the load host": spec.backend_there,
        "event streams don't end with a slice": workload.sse,
        "the rate rises": load.step_s is not None,
        "one of the backends fails": load.fault is not None,
        "each target has its own database": any(database_of(target, workload) for target in targets),
    }
    return next((reason for reason, applies in reasons.items() if applies), None)


def alternating(spec: RunSpec, planned: Sequence[TrialPlan]) -> list[list[TrialPlan]]:
    """Group trials in slices by table. Targets that use the same port are in groups of their own."""
    tables = _tables(planned)
    return [group for table in tables for group in ([[one] for one in table] if _use_same_port(spec, table) else [table])]


def _use_same_port(spec: RunSpec, table: Sequence[TrialPlan]) -> bool:
    return spec.port is not None or sum(_has_fixed_port(spec.targets[one.target]) for one in table) > 1
