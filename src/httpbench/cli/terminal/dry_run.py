"""The plan of a run, for ``--dry-run``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from rich.console import Console

from httpbench.cli.exit_codes import ExitCode
from httpbench.cli.terminal import console
from httpbench.cli.terminal.duration import longer_warmups, planned_rounds, planned_time, profiles_time
from httpbench.cli.terminal.progress import clock
from httpbench.errors import SelectionError
from httpbench.host import core_groups
from httpbench.model import Kind, TrialPlan
from httpbench.report.terminal.grid import Cells, column, names_column
from httpbench.report.words.numbers import plural
from httpbench.report.words.targets import build_words
from httpbench.run import RunSpec, StartContext, State, TargetState, container_command, estimate_s, states


def show(spec: RunSpec, output: Console, load_host: str | None = None) -> ExitCode:
    """Print the cells of the plan, their cores, and the estimated duration.

    Raises :class:`SelectionError` if every target is refused.
    """
    plan, targets = spec.plan, spec.targets
    builds = {target.build_name: target for target in map(spec.built, plan.trials)}
    known = dict(zip(builds, states(list(builds.values())), strict=True))
    refusals = {build.id: known[name].reason for name, build in builds.items() if known[name].state is State.REFUSED}
    for name, reason in refusals.items():
        console.echo(f"refused: {name}: {reason}", err=True)
    names = list(dict.fromkeys(trial.target for trial in plan.trials if trial.target not in refusals))
    if not names:
        raise SelectionError(
            "no targets left to measure: all of them were refused", hint="choose others; `httpbench list` shows their states"
        )
    trials = [trial for trial in plan.trials if trial.target not in refusals]
    cells = {trial.cell: trial for trial in trials}
    ordered = sorted(cells.values(), key=_place)
    console.show(_columns(ordered, spec, known, load_host), output)
    size = f"{plural(len(trials), 'trial')}: {plural(len(cells), 'line')} × {planned_rounds(spec)}"
    spec = replace(spec, plan=replace(plan, trials=tuple(trials)))
    output.print(f"\n{size}, {planned_time(spec)}{profiles_time(spec)}, without builds")
    if longer := longer_warmups(spec):
        output.print(longer)
    if spec.retries and any(targets[name].kind is not Kind.CLIENT for name in names):
        repeats_s = estimate_s(trials, targets) * spec.retries
        repeats = f"up to {clock(repeats_s)} more if other programs disturb every trial (--retries {spec.retries})"
        output.print(repeats)
    for command in _containers(ordered, spec):
        output.print(f"\n{command}", soft_wrap=True)
    return ExitCode.OK


def _place(trial: TrialPlan) -> tuple[object, ...]:
    """Return the sort key of a line."""
    return (trial.target, trial.scaling, trial.load.connections, trial.load.rate_rps or trial.load.share_of_peak or 0)


def _columns(trials: Sequence[TrialPlan], spec: RunSpec, known: Mapping[str, TargetState], load_host: str | None) -> list[Cells]:
    """Return the columns of the plan. The columns for builds, rates and backends are empty, and therefore hidden, if no trial has any."""
    has_rate = any(trial.load.rate_rps is not None or trial.load.share_of_peak is not None for trial in trials)
    columns = [
        names_column("Target", [trial.target for trial in trials]),
        column("Build", (build_words(spec.built(trial)) for trial in trials), need=1),
        column("State", (str(known[spec.built(trial).build_name].state) for trial in trials), need=1),
        column("Scaling", map(_scaling, trials)),
        column("Workload", (trial.workload for trial in trials)),
        column("Connections", (str(trial.load.connections) for trial in trials), is_number=True),
        column("Requests/s", (_rate(trial) if has_rate else "" for trial in trials), folds_at=16),
        column("Load generator", (trial.load_generator for trial in trials), short="Generator"),
        column("Target cores", (_cpus(trial.cores.target) for trial in trials), need=2),
        column("Backend cores", (_cpus(trial.cores.backend) for trial in trials), need=2),
    ]
    here = column("Generator cores", map(_generator_cores, trials), need=2)
    return [*columns, here if load_host is None else column("Load host", [load_host] * len(trials))]


def _scaling(trial: TrialPlan) -> str:
    return str(trial.scaling) + (f", {plural(trial.workers, 'worker')}" if trial.workers else "")


def _generator_cores(trial: TrialPlan) -> str:
    cores = trial.cores
    return _cpus(cores.generator) + (" (shared)" if cores.shared else " (shared with the backend)" if cores.backend_shared else "")


def _containers(trials: Sequence[TrialPlan], spec: RunSpec) -> Iterator[str]:
    """Yield the command that starts each container. Several loads of the same container share one command.

    Without ``--port``, the command contains a port that is currently free.
    """
    ways = {(spec.built(trial).build_name, trial.scaling, trial.cores.target, trial.workers): spec.built(trial) for trial in trials}
    for (_, scaling, cpus, workers), target in ways.items():
        place = StartContext(Path(target.folder), Path(), core_groups(cpus), spec.port, workers=workers)
        if command := container_command(target, scaling, place):
            yield command


def _rate(trial: TrialPlan) -> str:
    load = trial.load
    if load.share_of_peak is not None:
        return f"{load.share_of_peak:.0%} of the peak" + (f" of {load.peak_of}" if trial.target != load.peak_of else "")
    if load.rate_rps is None:
        return "closed loop"
    new = "" if load.keepalive else ", one connection per request"
    return (f"{load.rate_from_rps:,.0f} to " if load.rate_from_rps is not None else "") + f"{load.rate_rps:,.0f}{new}"


def _cpus(cpus: tuple[int, ...]) -> str:
    return ",".join(map(str, cpus))
