"""The plan: every trial of a run, in the order in which it will be made.

A round is one pass over all trials in an order of its own, so that a slow minute of the machine falls on different targets in
different rounds instead of on one target in all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from httpbench.model import Cores, Load, Scaling, Target, TrialPlan


@dataclass(frozen=True, slots=True)
class Matrix:
    """What is crossed: every target under every workload, load and way to scale."""

    targets: Sequence[Target]
    scalings: Sequence[Scaling]
    workloads: Sequence[str]
    loads: Sequence[Load]
    load_generator: str
    rounds: int
    own_loads: Mapping[str, Sequence[Load]] = field(default_factory=dict)
    """Id → the loads of a target that is known not to hold the others' rates."""
    baseline: Target | None = None
    """Measured in each round under every workload and load that a target has."""


@dataclass(frozen=True, slots=True)
class Plan:
    trials: tuple[TrialPlan, ...]
    left_out: dict[str, str]
    """Ids of targets that cannot be run as asked, with the reason."""

    @property
    def rounds(self) -> int:
        return max((trial.round for trial in self.trials), default=-1) + 1


def make_plan(matrix: Matrix, cores_for: Callable[[Scaling], Cores], seed: int) -> Plan:
    """``cores_for`` says who runs where for a way to scale; ``seed`` decides the order within each round."""
    left_out = {}
    cells: list[tuple[Target, Scaling, str, Load]] = []
    for target in matrix.targets:
        scalings = [own for asked in matrix.scalings if (own := scaling_of(target, asked)) is not None]
        if not scalings:
            left_out[target.id] = f"cannot be run as {' or '.join(matrix.scalings)}: it scales as {', '.join(target.scaling)}"
        loads = matrix.own_loads.get(target.id, matrix.loads)
        cells += [(target, scaling, workload, load) for scaling in scalings for workload in matrix.workloads for load in loads]
    if matrix.baseline is not None:
        ways = {(_filling(scaling), workload, load): None for _, scaling, workload, load in cells}
        cells += [(matrix.baseline, *way) for way in ways]
    order = random.Random(seed)
    trials: list[TrialPlan] = []
    for number in range(matrix.rounds):
        order.shuffle(cells)
        for target, scaling, workload, load in cells:
            trials.append(
                TrialPlan(
                    number=len(trials),
                    round=number,
                    target=target.id,
                    scaling=scaling,
                    workload=workload,
                    load=load,
                    load_generator=matrix.load_generator,
                    cores=cores_for(scaling),
                )
            )
    return Plan(tuple(trials), left_out)


def _filling(scaling: Scaling) -> Scaling:
    """The baseline of copies of a proxy is that of one proxy on the same cores."""
    return Scaling.MULTI if scaling is Scaling.PREFORK else scaling


def scaling_of(target: Target, asked: Scaling) -> Scaling | None:
    """How a target fills the cores when it is asked to: ``multi`` means prefork for those that do it so."""
    if asked is Scaling.SINGLE:
        return asked if Scaling.SINGLE in target.scaling else None
    return next((own for own in target.scaling if own is not Scaling.SINGLE), None)
