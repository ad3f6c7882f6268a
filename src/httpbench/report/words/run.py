"""Text about a whole run: when and where it ran, whether it is complete, and its noise and precision."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence

from httpbench.model import Kind, Run, RunStatus, Table, Trial
from httpbench.report.words.numbers import minute, percentage, plural, plus_minus
from httpbench.stats.figures import P99, THROUGHPUT
from httpbench.stats.noise import floor, other_load
from httpbench.stats.precision import widest

NAMED_MAX = 3
"""Maximum number of targets in the title of a run."""


def title(run: Run, trials: Sequence[Trial]) -> str:
    """Return the name of a run. For a run without a name, return a list of its targets or, if there are many, their number."""
    if run.name:
        return run.name
    measured = dict.fromkeys(trial.plan.target for trial in trials) or run.targets
    found = [run.targets[name] for name in measured if name != run.baseline or run.table is not Table.TCP_PROXIES]
    if len(found) <= NAMED_MAX:
        return ", ".join(target.id if target.is_declared else target.title for target in found)
    kinds = {target.kind.plural for target in found}
    return f"{len(found)} {kinds.pop() if len(kinds) == 1 else 'targets'}"


def heading(run: Run) -> str:
    """Return when and where a run took place: ``run 20261121T080000-c0de · 2026-11-21 08:00 UTC · AMD EPYC 7B13, 8 CPUs``."""
    environment = run.environment
    machine = f"{environment.cpu_model}, {plural(len(environment.cpus_allowed), 'CPU')}"
    if run.published:
        machine = f"published by {run.published}, measured on: {environment.cpu_model}"
    return f"run {run.id} · {minute(run.started_at)} UTC · {machine}"


def origin(run: Run, trials: Sequence[Trial]) -> list[str]:
    """Say where and when a run took place, whether it is complete, and how large its noise is."""
    environment = run.environment
    place = f"{environment.hostname}: {environment.cpu_model}, {plural(len(environment.cpus_allowed), 'CPU')}, {environment.os}"
    lines = [f"run {run.id} · {minute(run.started_at)} UTC · httpbench {environment.httpbench_version}"]
    lines.append(f"{place}, kernel {environment.kernel}")
    return [*lines, *status(run, trials), *noise(run, trials)]


def status(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """Say how many trials an incomplete run has made."""
    made = sum(trial.plan.attempt == 0 for trial in trials)
    ended_early = made < len(run.plan) and run.precision is None and not run.looks
    if run.search:
        if run.status is not RunStatus.FINISHED:
            yield f"{run.status} after {plural(made, 'trial')}"
    elif run.status is not RunStatus.FINISHED or ended_early:
        yield f"{run.status}: {made} of {plural(len(run.plan), 'trial')}"


def noise(run: Run, trials: Sequence[Trial]) -> Iterator[str]:
    """Say how much identical servers differ on this machine under the run's load and with the run's number of rounds."""
    kinds = {name: workload.kind for name, workload in run.workloads.items()}
    measured = [trial.plan for trial in trials if trial.measurement and kinds.get(trial.plan.workload) is Kind.SERVER]
    if run.noise is None or not measured:
        return
    differences = [other_load(run.noise, plan.load, run.workloads[plan.workload]) for plan in measured]
    alike = [plan for plan, difference in zip(measured, differences, strict=True) if difference is None]
    if not alike:
        yield f"noise under this load is unknown: A/A pairs had another load ({differences[0]})"
        return
    rounds = max(plan.round for plan in alike) + 1
    throughput, p99 = (floor(run.noise, figure.name, rounds) for figure in (THROUGHPUT, P99))
    if throughput is not None:
        also = f", p99 {percentage(p99)}" if p99 is not None else ""
        made = f"A/A of {run.noise.made_at[:10]}, {plural(run.noise.rounds, 'pair')} of {run.noise.duration_s:g} s"
        made += "" if len(alike) == len(measured) else ", for tables under its load only"
        yield f"noise floor with {plural(rounds, 'round')}: throughput {percentage(throughput)}{also} ({made})"


def precision(run: Run, trials: Sequence[Trial]) -> list[str]:
    """Say whether a run reached the requested precision."""
    asked = run.precision
    if asked is None or run.baseline is None or run.status is not RunStatus.FINISHED:
        return []
    requested = f"± {percentage(asked.half_width)}"
    width = widest(trials, run.baseline)
    if width is None:
        return [f"{requested} was not reached: too few valid rounds"]
    if width.half_width <= asked.half_width:
        return [f"{plus_minus(width.half_width)} after {plural(width.rounds, 'round')}, within the requested {requested}"]
    needed = width.rounds_for(asked.half_width)
    outlook = f"about {needed:,} would be enough" if needed else "more rounds than practical would be required"
    return [f"{requested} was not reached in {plural(width.rounds, 'round')} ({plus_minus(width.half_width)}): {outlook}"]


def machine(run: Run) -> Iterator[tuple[str, str]]:
    """Yield the name and value of each property of the machine, including its state when the run began."""
    environment = run.environment
    properties = (
        ("Command", shlex.join(run.command)),
        ("Machine", environment.hostname),
        ("CPU", f"{environment.cpu_model}, {environment.cpus_online} online, {len(environment.cpus_allowed)} allowed"),
        ("SMT", _switch(environment.smt)),
        ("Turbo", _switch(environment.turbo)),
        ("Governor", environment.governor or "none"),
        ("Memory", f"{environment.memory_bytes / 1e9:.1f} GB"),
        ("System", f"{environment.os}, kernel {environment.kernel}"),
        ("Virtual machine", environment.virtualization or "no"),
        ("Container", environment.container or None),
        ("CPU quota", None if environment.cpu_quota_cores is None else f"{environment.cpu_quota_cores:g} cores"),
        ("Load average", f"{environment.load_average_1m:g} when the run began"),
        ("Commit", environment.git_commit or None),
        ("Knobs", ", ".join(f"{name} {value}" for name, value in environment.tuning.items()) or None),
    )
    return ((name, value) for name, value in properties if value is not None)


def _switch(state: bool | None) -> str:
    return "unknown" if state is None else "on" if state else "off"
