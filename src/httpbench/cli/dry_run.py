"""The plan of a run, shown instead of measured."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.progress import clock
from httpbench.host import core_groups
from httpbench.model import Kind, Load, Target, TrialPlan
from httpbench.run import Place, RunSpec, container_command, estimate_s, longest_warmup_s, states


def show(spec: RunSpec, output: Console, load_host: str | None = None) -> ExitCode:
    """Prints the cells of the plan, their cores, and how long it will take. Connects to no load host."""
    plan, targets = spec.plan, spec.targets
    cells = {trial.cell: trial for trial in plan.trials}
    names = list(dict.fromkeys(trial.target for trial in cells.values()))
    known = dict(zip(names, states([targets[name] for name in names]), strict=True))
    has_rate = any(trial.load.rate_rps is not None for trial in cells.values())
    has_backend = any(trial.cores.backend for trial in cells.values())
    table = Table(box=None, pad_edge=False)
    for column in ("Target", "State", "Scaling", "Workload", "Connections", *(["Requests/s"] if has_rate else []), "Load generator"):
        table.add_column(column, justify="right" if column in ("Connections", "Requests/s") else "left")
    for column in ("Target cores", *(["Backend cores"] if has_backend else []), "Generator cores" if load_host is None else "Load host"):
        table.add_column(column)
    ordered = sorted(cells.values(), key=lambda trial: (trial.target, trial.scaling, trial.load.connections, trial.load.rate_rps or 0))
    for trial in ordered:
        cores = trial.cores
        table.add_row(
            trial.target,
            str(known[trial.target].state),
            str(trial.scaling) + (f", {_count(trial.workers, 'worker')}" if trial.workers else ""),
            trial.workload,
            str(trial.load.connections),
            *([_rate(trial.load)] if has_rate else []),
            trial.load_generator,
            _cpus(cores.target),
            *([_cpus(cores.backend)] if has_backend else []),
            load_host
            or _cpus(cores.generator) + (" (shared)" if cores.shared else " (shared with the backend)" if cores.backend_shared else ""),
        )
    output.print(table)
    size = f"{_count(len(plan.trials), 'trial')}: {_count(len(cells), 'line')} × {_count(plan.rounds, 'round')}"
    planned_s = estimate_s(plan.trials, targets)
    output.print(f"\n{size}, about {clock(planned_s)}, without builds", markup=False)
    if longer_s := sum(longest_warmup_s(trial) for trial in plan.trials):
        output.print(f"up to {clock(longer_s)} more if every warm-up lasts its longest", markup=False)
    if spec.retries and any(targets[name].kind is not Kind.CLIENT for name in names):
        repeats = f"up to {clock(planned_s * spec.retries)} more if other programs disturb every trial (--retries {spec.retries})"
        output.print(repeats, markup=False)
    for command in _containers(ordered, targets, spec.port):
        output.print(f"\n{command}", markup=False, soft_wrap=True)
    return ExitCode.OK


def _containers(trials: Sequence[TrialPlan], targets: Mapping[str, Target], port: int | None) -> Iterator[str]:
    """What starts each container, once for all of its loads. A port that was not given is one that is free now."""
    ways = {(trial.target, trial.scaling, trial.cores.target, trial.workers): None for trial in trials}
    for name, scaling, cpus, workers in ways:
        place = Place(Path(targets[name].folder), Path(), core_groups(cpus), port, workers=workers)
        if command := container_command(targets[name], scaling, place):
            yield command


def _rate(load: Load) -> str:
    if load.rate_rps is None:
        return "closed loop"
    new = "" if load.keepalive else ", one connection per request"
    return (f"{load.rate_from_rps:,.0f} to " if load.rate_from_rps is not None else "") + f"{load.rate_rps:,.0f}{new}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _cpus(cpus: tuple[int, ...]) -> str:
    return ",".join(str(cpu) for cpu in cpus)
