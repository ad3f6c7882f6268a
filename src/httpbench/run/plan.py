"""The plan: every trial of a run, in the order in which it will be made.

A round is one pass over all trials in an order of its own, so that a slow minute of the machine falls on different targets in
different rounds instead of on one target in all of them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass

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
        cells += [(target, scaling, workload, load) for scaling in scalings for workload in matrix.workloads for load in matrix.loads]
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


def scaling_of(target: Target, asked: Scaling) -> Scaling | None:
    """How a target fills the cores when it is asked to: ``multi`` means prefork for those that do it so."""
    if asked is Scaling.SINGLE:
        return asked if Scaling.SINGLE in target.scaling else None
    return next((own for own in target.scaling if own is not Scaling.SINGLE), None)
