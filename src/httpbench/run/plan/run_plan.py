"""The plan of a run: all trials and their order.

Each round contains one trial of each combination, in a new random order. If the machine slows down for a minute in several
rounds, different targets are therefore affected. Loads at a share of each target's own peak follow after the last round of all other loads,
which measure the peaks.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from httpbench.model import Cores, Http2, Load, Scaling, Target, TrialPlan


@dataclass(frozen=True, slots=True)
class Matrix:
    """The combinations of a plan: every target under every workload, load and scaling, with every load generator."""

    targets: Sequence[Target]
    scalings: Sequence[Scaling]
    workloads: Sequence[str]
    loads: Sequence[Load]
    load_generators: Sequence[str]
    rounds: int
    own_loads: Mapping[str, Sequence[Load]] = field(default_factory=dict)
    """Loads of the targets that can't sustain the common rates, by target id."""
    baseline: Target | None = None
    """Target that is measured in each round under every workload and load of the other targets."""
    workers: int | None = None
    """Number of workers of each target that fills its cores, or ``None`` for one per core."""
    serves: Callable[[Target, str], bool] = lambda target, workload: True
    """Function that returns whether a target serves a workload."""


@dataclass(frozen=True, slots=True)
class RunPlan:
    """The trials of a run, in order."""

    trials: tuple[TrialPlan, ...]
    skipped: dict[str, str]
    """Reasons why targets can't run with the requested scaling, workloads or workers, by target id."""

    @property
    def rounds(self) -> int:
        return max((trial.round for trial in self.trials), default=-1) + 1


def make_plan(matrix: Matrix, cores_for: Callable[[Scaling], Cores], seed: int) -> RunPlan:
    """Return the ordered trials. ``cores_for`` divides the cores for a scaling, and ``seed`` determines the order within each round."""
    skipped = {}
    cells: list[tuple[Target, Scaling, str, Load, str]] = []
    for target in matrix.targets:
        scalings = [own for requested in matrix.scalings if (own := scaling_of(target, requested)) is not None]
        if not scalings:
            skipped[target.id] = f"cannot be run as {' or '.join(matrix.scalings)}: it scales as {', '.join(target.scaling)}"
        elif matrix.workers is not None and not all(_takes_workers(target, scaling) for scaling in scalings):
            skipped[target.id] = "cannot be given a number of workers: its command has no {workers}"
            continue
        loads = []
        for load in matrix.own_loads.get(target.id, matrix.loads):
            if load.fault is not None and target.two_backends is None:
                skipped[f"two backends of {target.id}"] = "not declared in its target.toml"
            elif protocol := undeclared(target, tls=load.tls, http2=load.http2):
                skipped[f"{protocol} of {target.id}"] = "not declared in its target.toml"
            else:
                loads.append(load)
        loads = [load if load.share_of_peak is None else load.model_copy(update={"peak_of": target.id}) for load in loads]
        served = [workload for workload in matrix.workloads if matrix.serves(target, workload)]
        if not served:
            skipped[target.id] = f"declares no path for {' or '.join(matrix.workloads)}, only for {', '.join(target.paths)}"
        cells += [(target, *way) for way in product(scalings, served, loads, matrix.load_generators)]
    if matrix.baseline is not None:
        compared = [cell for cell in cells if not cell[3].is_overload]  # the baseline isn't overloaded at the same rate
        ways = {(_filling(scaling), workload, load, generator): None for _, scaling, workload, load, generator in compared}
        cells += [(matrix.baseline, *way) for way in ways]
    order = random.Random(seed)
    trials: list[TrialPlan] = []
    peaks, at_shares = ([cell for cell in cells if (cell[3].share_of_peak is None) is is_peak] for is_peak in (True, False))
    for part, number in product((peaks, at_shares), range(matrix.rounds)):
        order.shuffle(part)
        for target, scaling, workload, load, generator in part:
            trials.append(
                TrialPlan(
                    number=len(trials),
                    round=number,
                    target=target.id,
                    scaling=scaling,
                    workload=workload,
                    load=load,
                    load_generator=generator,
                    cores=cores_for(scaling),
                    workers=None if target is matrix.baseline else matrix.workers,
                )
            )
    return RunPlan(tuple(trials), skipped)


def undeclared(target: Target, *, tls: bool, http2: bool) -> str | None:
    """Return the protocol that a target from a manifest or catalog doesn't declare, or ``None`` if it serves such requests.

    A target from the command line declares nothing, so it is assumed to serve them.
    """
    if not target.is_declared:
        return None
    if http2 and (Http2.H2 if tls else Http2.H2C) not in target.http2:
        return "HTTP/2 over TLS" if tls else "HTTP/2 without TLS"
    return "HTTPS" if tls and target.https is None else None


def _filling(scaling: Scaling) -> Scaling:
    """Return the scaling of the baseline for a proxy's scaling: ``multi`` if the proxy runs as copies, otherwise the same."""
    return Scaling.MULTI if scaling is Scaling.PREFORK else scaling


def _takes_workers(target: Target, scaling: Scaling) -> bool:
    """Return whether the number of workers can be chosen. Prefork always allows this; other scalings require ``{workers}``."""
    return scaling is Scaling.PREFORK or any("{workers}" in text for text in (*target.run, *target.env.values()))


def scaling_of(target: Target, requested: Scaling) -> Scaling | None:
    """Return the target's scaling that corresponds to the requested scaling, or ``None`` if there is none.

    For ``multi``, this is prefork if the target fills its cores with copies.
    """
    if requested is Scaling.SINGLE:
        return requested if Scaling.SINGLE in target.scaling else None
    return next((own for own in target.scaling if own is not Scaling.SINGLE), None)
