"""What a verdict is drawn from, and how busy each program was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.model import Cores, Criteria, Load, Measurement, Observed, Scaling, Trial, Usage

ERROR_SHARE_LIMIT = 0.001
"""Errors per request. A lost request costs a timeout that no percentile below it shows; one in a thousand is the p99.9."""

GENERATOR_BUSY = 0.95
"""Share of its cores from which a generator counts as busy. Higher than for targets: one with a tenth of its time to spare could have
sent more. Time in which it was ready to run and was kept off its cores, by a quota or a neighbour, counts like time that it ran."""

GENERATOR_NEARLY_BUSY = 0.90
"""Share of its cores from which a generator may have held up a target that was nearly full itself."""

GENERATOR_STARVED = 0.25
"""Share of the time in which a generator was kept off its cores, from which it was the limit whatever it did in the rest: a target that had
time to spare would have responded more often to one that could run."""

OTHERS_SHARE_MAX = 0.05
"""Share of a program's physical cores that others may use. A full target gets so much less done, and rounds of a quiet machine differ by
2%. In a closed loop each side waits for the other, so what delays one makes both idle."""

THROTTLED_SHARE_MIN = 0.05
"""Share of a quota's periods in which it was used up, from which it may be why nobody was busy. As for other programs."""

THREAD_FULL = 0.95
"""Share of a core from which a thread counts as full: it cannot run on two, so the other cores of its program do not help it."""


USUAL = Criteria()


@dataclass(frozen=True, slots=True)
class Evidence:
    """Everything that the verdict of a measured trial is drawn from."""

    measurement: Measurement
    load: Load
    cores: Cores
    observed: Observed
    """What was seen. Without the CPU time of target or generator, the limit is unknown."""
    scaling: Scaling = Scaling.MULTI
    """With ``single`` a target is busy at one core, however many it was given."""
    target_cpus: float | None = None
    """CPU limit of the target's container, in cores. ``None``: none."""
    criteria: Criteria = USUAL


def evidence_of(trial: Trial) -> Evidence | None:
    """Return what the verdict of a trial is drawn from; ``None`` if nothing was measured."""
    if trial.measurement is None:
        return None
    cores, observed, scaling = trial.plan.cores, trial.observed, trial.plan.scaling
    if is_baseline(trial):
        cores = cores.model_copy(update={"target": cores.backend, "backend": (), "shared": cores.backend_shared})
        observed = observed.model_copy(update={"target_usage": observed.backend_usage, "backend_usage": None})
        scaling = Scaling.MULTI
    return Evidence(
        measurement=trial.measurement,
        load=trial.plan.load,
        cores=cores,
        observed=observed,
        scaling=scaling,
        target_cpus=trial.container.cpus if trial.container else None,
        criteria=trial.criteria,
    )


def is_baseline(trial: Trial) -> bool:
    """Return whether the backend of proxies is itself what was measured."""
    return trial.observed.target_usage is None and trial.observed.backend_usage is not None


def target_capacity(evidence: Evidence) -> int:
    """Physical cores that the target can fill."""
    if evidence.scaling is Scaling.SINGLE:
        return 1
    if not evidence.cores.target:  # the baseline, with a backend that has no cores here
        return max(backend_capacity(evidence), 1)
    return max(evidence.cores.physical(evidence.cores.target), 1)


def backend_capacity(evidence: Evidence) -> int:
    """Physical cores of the backend, on whichever machine it runs."""
    there = evidence.observed.load_host.backend_cores if evidence.observed.load_host else 0
    return there or evidence.cores.physical(evidence.cores.backend)


def generator_capacity(evidence: Evidence) -> int:
    """Physical cores that the generator can fill: no more than it was given, than it has threads, than it has connections."""
    cores = evidence.observed.load_host.cores if evidence.observed.load_host else max(evidence.cores.physical(evidence.cores.generator), 1)
    return min(cores, evidence.load.threads or cores, evidence.load.connections)


def generator_is_busy(evidence: Evidence) -> bool:
    """Whether it could not have made more load than it did; false if its CPU time is unknown."""
    return _generator_is_full(evidence, GENERATOR_BUSY)


def generator_is_nearly_busy(evidence: Evidence) -> bool:
    """Whether it could have made hardly more load than it did; false if its CPU time is unknown."""
    return _generator_is_full(evidence, GENERATOR_NEARLY_BUSY)


def _generator_is_full(evidence: Evidence, share: float) -> bool:
    if hosts := evidence.measurement.load_hosts:
        return any(host.full >= share for host in hosts)  # the load is that of the fullest: the others keep to its pace
    usage = evidence.observed.generator_usage
    if usage is None:
        return False
    capacity, waited = generator_capacity(evidence), _kept_waiting(evidence)
    if generator_thread_is_full(evidence):
        return True
    return waited >= GENERATOR_STARVED * capacity or generator_cores(evidence, usage) + waited >= share * capacity


def generator_cores(evidence: Evidence, usage: Usage) -> float:
    """Cores' worth of time in which the generator had something to do: its CPU time, unless it polls and tells that apart."""
    reported, cores = evidence.measurement.busy_cores, evidence.cores
    if reported is not None:
        return reported
    return _with_interrupts(evidence, usage, cores.generator, {*cores.target, *cores.backend, *cores.database})


def generator_thread_is_full(evidence: Evidence) -> bool:
    """Whether one of its threads had no time to spare, polling aside; false if that is unknown."""
    usage, reported = evidence.observed.generator_usage, evidence.measurement.busy_cores
    if usage is None or usage.thread_cores_max is None:
        return False
    useful = 1.0 if reported is None or usage.cpu_cores_mean <= 0 else min(reported / usage.cpu_cores_mean, 1.0)
    return usage.thread_cores_max * useful >= THREAD_FULL


def target_cores(evidence: Evidence, usage: Usage) -> float:
    """Cores' worth of time in which the target's cores were not idle: its CPU time, and interrupts on cores that are its own."""
    cores = evidence.cores
    return _with_interrupts(evidence, usage, cores.target, {*cores.generator, *cores.backend, *cores.database, *cores.harness})


def target_fill(evidence: Evidence, usage: Usage) -> tuple[float, float]:
    """Cores that the target used, and cores that it could use: its cores, or the CPU limit of its container where that is fuller.

    Interrupts keep cores busy, but do not count towards a limit.
    """
    cores = (target_cores(evidence, usage), float(target_capacity(evidence)))
    limit = (usage.cpu_cores_mean, evidence.target_cpus) if evidence.target_cpus else cores
    return max(cores, limit, key=lambda fill: fill[0] / fill[1])


def _with_interrupts(evidence: Evidence, usage: Usage, cpus: Sequence[int], of_others: Collection[int]) -> float:
    """CPU time with the interrupts on these CPUs, where no other program used them. Kernels differ in whether they charge interrupts to
    the process that runs: what processes used without them is known as well, so none counts twice."""
    cores = [core for core in evidence.observed.occupancy if core.cpu in cpus]
    used = usage.cpu_cores_mean
    if not cores or set(cpus) & set(of_others):
        return used
    busy = sum(core.busy for core in cores)
    if busy - used > OTHERS_SHARE_MAX * evidence.cores.physical(cpus):
        return used
    return max(used, min(busy, used) + sum(core.interrupts for core in cores))


def throttled(usage: Usage | None) -> float | None:
    """Share of a quota's periods in which it stopped a program, if that is enough to have been the limit."""
    share = usage.throttled_share if usage else None
    return share if share is not None and share >= THROTTLED_SHARE_MIN else None


def _kept_waiting(evidence: Evidence) -> float:
    """Cores' worth of time that the generator was kept off its cores. On shared ones the target or its database does that, and is not to
    blame."""
    usage, cores = evidence.observed.generator_usage, evidence.cores
    return 0.0 if usage is None or cores.shared or cores.database_shared else usage.cpu_wait_cores_mean or 0.0


def fill(name: str, cores: float, capacity: float, **more: Any) -> dict[str, Any]:
    """Return how much of its cores a program used, as data of a reason. What is ``None`` is left out."""
    return {"name": name, "cores": cores, "capacity": capacity, **{key: value for key, value in more.items() if value is not None}}


def generator_fill(evidence: Evidence) -> dict[str, Any]:
    """Return how full the generator was and how long it was kept off its cores; with several load hosts, the fullest one."""
    if hosts := evidence.measurement.load_hosts:
        fullest = max(hosts, key=lambda host: host.full)
        return {"name": "generator", "fullest_thread_cores": fullest.full, "load_host": fullest.name}
    assert evidence.observed.generator_usage is not None
    waited, capacity = _kept_waiting(evidence), generator_capacity(evidence)
    return fill(
        "generator",
        generator_cores(evidence, evidence.observed.generator_usage),
        capacity,
        host=evidence.observed.load_host.name if evidence.observed.load_host else None,
        full_thread_of=evidence.observed.generator_usage.threads if generator_thread_is_full(evidence) and capacity > 1 else None,
        waited_share=waited if waited >= 1 - GENERATOR_BUSY else None,
    )
