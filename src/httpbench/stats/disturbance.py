"""Detect trials that were disturbed from outside, and find out which programs disturbed them.

A trial is disturbed if other programs or other virtual machines took CPU time from it, or if its programs waited for a CPU without a known
cause. Only this module decides whether a trial was disturbed. The decision never depends on the result, so leaving out disturbed trials
doesn't bias the results. The run's own programs don't disturb a trial. For example, threads of a target may wait for each other, and a
target and a load generator may compete for shared cores. The CPU time of httpbench itself isn't a disturbance either. If the run's own
programs use up a CPU quota, the trial isn't disturbed, because the quota affects all trials equally.

Shares of CPU time are relative to the physical cores of the affected program. Another program on the target's only core does as much harm
on a machine with many cores as on a machine with one. Other programs that run while the run's programs sleep do no harm. For example, a
background job with the lowest priority only uses the time in which a target is idle. The CPU time of other programs therefore counts only
up to the time for which the run's programs waited for a CPU. It counts in full on SMT siblings that the run can't use, because no program
of the run waits for those CPUs.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.model import Reason, ReasonKind, Trial, Usage
from httpbench.stats.blame import Blamed, Taken, blame, pinned_cores, yielding_cores
from httpbench.stats.evidence import OTHERS_SHARE_MAX, THROTTLED_SHARE_MIN, Evidence, evidence_of, throttled

WAIT_SHARE_MAX = 0.10
"""Maximum time for which a program may wait for a CPU without a known cause, as a share of the time of its usable cores. A longer wait
shows that other programs ran so briefly that the kernel's clock ticks missed them and their CPU time wasn't counted."""

TICKS_S = 0.03
"""Possible error of tick-based CPU counters in one measurement, in seconds. Because of this error, short measurements have higher
thresholds."""

STOLEN_BY = "other virtual machines"


@dataclass(frozen=True, slots=True)
class Disturbance:
    """One way in which a trial was disturbed."""

    reason: Reason
    share: float
    """Highest share of the CPU time of its cores that a program of the run lost, from 0 to 1. It is an upper bound."""
    by: tuple[Blamed, ...] = ()
    """Programs that caused the disturbance. Empty: none could be identified."""


@dataclass(frozen=True, slots=True)
class Disturber:
    """A program that disturbed several trials."""

    name: str
    cores: float
    """Highest CPU use of the program on the run's cores in any trial, in cores."""
    trials: int


@dataclass(frozen=True, slots=True)
class CoreGroup:
    """A group of the run's programs that share cores, and these cores."""

    names: tuple[str, ...]
    own_cpus: frozenset[int]
    cpus: frozenset[int]
    """Logical CPUs of the group's cores, including SMT siblings that no program of the run may use."""
    capacity: int
    """Number of physical cores of the group."""
    used_cores: float | None
    """CPU use of the group's programs, in cores. ``None``: unknown."""
    waited_cores: float | None
    """Mean number of the programs' threads that were ready to run but waited for a CPU. ``None``: unknown."""


def disturbance(trial: Trial) -> tuple[Reason, ...]:
    """Return the reasons why a stored trial is disturbed; empty if it isn't, or if other programs weren't observed."""
    evidence = evidence_of(trial)
    return tuple(each.reason for each in disturbances(evidence)) if evidence else ()


def disturbers(trials: Iterable[Trial]) -> list[Disturber]:
    """Return the programs that disturbed these trials, the most frequent first. Programs that couldn't be identified are omitted."""
    found: dict[str, Disturber] = {}
    for trial in trials:
        evidence = evidence_of(trial)
        for one in (one for each in (disturbances(evidence) if evidence else ()) for one in each.by):
            known = found.get(one.name, Disturber(one.name, 0.0, 0))
            found[one.name] = Disturber(one.name, max(known.cores, one.cores), known.trials + 1)
    return sorted(found.values(), key=lambda one: (-one.trials, -one.cores))


def disturbances(evidence: Evidence) -> tuple[Disturbance, ...]:
    """Return all ways in which a trial was disturbed."""
    parts = _parts(evidence)
    here = (*_programs(parts, evidence), *_steal(parts, evidence), *_quota(evidence), *_wait(parts, evidence))
    return (*here, *_on_load_host(evidence))


def is_disturbed_slice(evidence: Evidence) -> bool:
    """Return whether a slice was disturbed, by the rules for trials or by a stricter rule.

    The rules for trials allow for an error of 0.03 s in the counters of cores, which is almost a third of a slice. But the kernel counts
    the waiting time of each thread exactly, and stolen time and the CPU time of each process to within a tick of 10 ms. The stricter rule
    uses these counters: a slice is disturbed if at least 5% of the run's cores were stolen, or used by other programs while the run's
    programs waited.
    """
    return bool(disturbances(evidence)) or sum(_lost(part, evidence) for part in _parts(evidence)) >= OTHERS_SHARE_MAX


def _lost(part: CoreGroup, evidence: Evidence) -> float:
    """Return an upper bound on the share of a group's cores that strangers and other virtual machines took from the group."""
    return (_taken_by_strangers(part, evidence) + _stolen_cores(part, evidence)) / part.capacity


def others_cores(evidence: Evidence) -> float | None:
    """Return the CPU use of other programs on the run's cores, in cores; ``None`` if unknown."""
    shares = [_others(part, evidence) for part in _parts(evidence)]
    known = [share for share in shares if share is not None]
    return sum(known) if known and len(known) == len(shares) else None


def _programs(parts: Sequence[CoreGroup], evidence: Evidence) -> Iterator[Disturbance]:
    taken = {part: cores for part in parts if (cores := _taken(part, evidence)) is not None and cores >= _limit(part, evidence)}
    if taken:
        by = blame(evidence.observed.others, [Taken(cores, part.cpus, part.cpus - part.own_cpus) for part, cores in taken.items()])
        named = [{"name": each.name, "cores": each.cores} for each in by]
        yield Disturbance(Reason.of(ReasonKind.OTHERS_TOOK, places=_places(taken), by=named), _share(taken), by)


def _steal(parts: Sequence[CoreGroup], evidence: Evidence) -> Iterator[Disturbance]:
    stolen = {part: _stolen_cores(part, evidence) for part in parts}
    taken = {part: cores for part, cores in stolen.items() if cores >= _limit(part, evidence)}
    if taken:
        by = (Blamed(STOLEN_BY, sum(taken.values())),)
        yield Disturbance(Reason.of(ReasonKind.STOLEN, places=_places(taken)), _share(taken), by)


def _stolen_cores(part: CoreGroup, evidence: Evidence) -> float:
    return sum(core.stolen for core in evidence.observed.occupancy if core.cpu in part.cpus)


def _quota(evidence: Evidence) -> Iterator[Disturbance]:
    """Report that other programs used part of a shared CPU quota, if the quota throttled the run's programs."""
    seen = evidence.observed
    quota = seen.others.quota if seen.others else None
    if quota is None or seen.others is None or seen.target_usage is None or quota.throttled_share < THROTTLED_SHARE_MIN:
        return
    usages = (seen.target_usage, seen.generator_usage, seen.backend_usage, seen.database_usage)
    others = quota.used_cores - sum(usage.cpu_cores_mean for usage in usages if usage) - seen.others.harness_cores
    if others >= OTHERS_SHARE_MAX * quota.used_cores + _ticks_share(evidence):
        share = quota.throttled_share
        yield Disturbance(Reason.of(ReasonKind.SHARED_QUOTA, cores=others, quota_cores=quota.used_cores, periods_share=share), share)


def _wait(parts: Sequence[CoreGroup], evidence: Evidence) -> Iterator[Disturbance]:
    """Report that a program waited for a CPU without a known cause.

    Known causes are other programs that were observed, a quota, the program's own threads, interrupts and httpbench itself. Programs that
    share cores aren't checked, because they wait for each other. If the server was already running, nothing is reported, because the load
    generator may have waited for the server.
    """
    if evidence.observed.target_usage is None:
        return
    watched: dict[tuple[str, ...], tuple[Usage | None, int, int]] = {
        ("target",): (evidence.observed.target_usage, evidence.target_capacity(), 0),
        ("load generator",): (evidence.observed.generator_usage, evidence.generator_capacity(), 1),  # one thread just coordinates
    }
    for part in parts:
        usage, capacity, idle_threads = watched.get(part.names, (None, 1, 0))
        if usage is None or usage.cpu_wait_cores_mean is None or throttled(usage):
            continue
        known_cause = max(_others(part, evidence) or 0.0, _taken(part, evidence) or 0.0)
        if (usage.threads or 0) > len(part.own_cpus) + idle_threads or known_cause >= _limit(part, evidence):
            continue
        waited = usage.cpu_wait_cores_mean - _harness_cores(part.own_cpus, evidence) - _interrupts(part, evidence)
        if waited >= WAIT_SHARE_MAX * capacity:
            yield Disturbance(Reason.of(ReasonKind.WAITED, program=part.names[0], share=waited / capacity), waited / capacity)


def _on_load_host(evidence: Evidence) -> Iterator[Disturbance]:
    """Report disturbances on the load host, where the load generator has its own cores.

    The harness can't find out which other programs used these cores.
    """
    there, usage = evidence.observed.load_host, evidence.observed.generator_usage
    if there is None or usage is None or not there.occupancy:
        return
    limit = OTHERS_SHARE_MAX * there.cores + _ticks_share(evidence)
    place = {"host": there.name, "host_cores": there.cores}
    others = sum(core.busy for core in there.occupancy) - usage.cpu_cores_mean
    taken = others if usage.cpu_wait_cores_mean is None else min(others, usage.cpu_wait_cores_mean)
    if taken >= limit:
        yield Disturbance(Reason.of(ReasonKind.OTHERS_TOOK_ON_HOST, cores=taken, **place), taken / there.cores)
    stolen = sum(core.stolen for core in there.occupancy)
    if stolen >= limit:
        yield Disturbance(Reason.of(ReasonKind.STOLEN_ON_HOST, cores=stolen, **place), stolen / there.cores, (Blamed(STOLEN_BY, stolen),))
    capacity = evidence.generator_capacity()
    waited = (usage.cpu_wait_cores_mean or 0.0) - sum(core.interrupts for core in there.occupancy)
    if others < limit and (usage.threads or 0) <= len(there.occupancy) + 1 and waited >= WAIT_SHARE_MAX * capacity:
        yield Disturbance(Reason.of(ReasonKind.WAITED_ON_HOST, share=waited / capacity, host=there.name), waited / capacity)


def _share(taken: Mapping[CoreGroup, float]) -> float:
    return max(cores / part.capacity for part, cores in taken.items())


def _places(taken: Mapping[CoreGroup, float]) -> list[dict[str, Any]]:
    """Return how much CPU time each group of programs lost, as the data for a reason."""
    return [{"cores": cores, "programs": list(part.names), "capacity": part.capacity} for part, cores in taken.items()]


def _limit(part: CoreGroup, evidence: Evidence) -> float:
    """Return the minimum CPU use of other programs that disturbs a group of the run's programs, in cores."""
    return OTHERS_SHARE_MAX * part.capacity + _ticks_share(evidence)


def _ticks_share(evidence: Evidence) -> float:
    """Return the possible error of tick-based counters, in cores."""
    return TICKS_S / max(evidence.measurement.duration_s, TICKS_S)


def _taken(part: CoreGroup, evidence: Evidence) -> float | None:
    """Return an upper bound on the CPU time that other programs took from a group, in cores; ``None`` if unknown.

    Other programs took CPU time if they ran while a thread of the group waited for a CPU. Threads of a group also wait for each other, so
    their total waiting time is only an upper bound. Programs that yield to all others took nothing.
    """
    others, bounds = _others(part, evidence), _bounds_of_others(part, evidence)
    if others is None or bounds is None or part.waited_cores is None:
        return others
    others = max(others - yielding_cores(evidence.observed.others, part.own_cpus), 0.0)
    on_siblings = sum(core.busy for core in evidence.observed.occupancy if core.cpu in part.cpus - part.own_cpus)
    _, most = bounds
    return max(min(others, on_siblings + part.waited_cores), min(_taken_by_strangers(part, evidence), most))


def _taken_by_strangers(part: CoreGroup, evidence: Evidence) -> float:
    """Return an upper bound on the CPU time that the strangers seen on a group's cores took from the group, in cores; 0 if unknown.

    Kernel threads are excluded, because they may have worked on behalf of the run's programs.
    """
    others = evidence.observed.others
    if others is None or part.waited_cores is None:
        return 0.0
    seen = [each for each in others.strangers if part.cpus & set(each.cpus or each.cpus_allowed)]
    return min(sum(each.cores for each in seen if not each.yields and not each.is_kernel), part.waited_cores)


def _others(part: CoreGroup, evidence: Evidence) -> float | None:
    """Return the CPU use of other programs on the cores of a group, in cores; ``None`` if unknown.

    The result is the lower bound, or the CPU use of processes that are pinned to these cores if it is larger, up to the upper bound.
    """
    if (bounds := _bounds_of_others(part, evidence)) is None:
        return None
    least, most = bounds
    return max(least, min(pinned_cores(evidence.observed.others, part.cpus), most))


def _bounds_of_others(part: CoreGroup, evidence: Evidence) -> tuple[float, float] | None:
    """Return a lower and an upper bound on the CPU use of other programs on the cores of a group, in cores; ``None`` if unknown.

    The lower bound is the busy time of the cores minus the CPU time of the run's programs. The busy time never includes interrupts, but on
    some kernels the CPU time of a process does. On such a kernel, the lower bound is too low by up to the time of the interrupts.

    The result is unknown for a server that was already running, because httpbench can't distinguish that server from other programs.
    """
    cores = [core for core in evidence.observed.occupancy if core.cpu in part.cpus]
    if part.used_cores is None or evidence.observed.target_usage is None or not cores:
        return None
    least = sum(core.busy for core in cores) - (part.used_cores + _harness_cores(part.own_cpus, evidence))
    return max(least, 0.0), max(least + _interrupts(part, evidence), 0.0)


def _parts(evidence: Evidence) -> list[CoreGroup]:
    """Return the programs of the run, grouped by shared cores."""
    cores = evidence.cores
    programs: Iterable[tuple[str, tuple[int, ...], Usage | None]] = (
        ("target", cores.target, evidence.observed.target_usage),
        ("load generator", cores.generator, evidence.observed.generator_usage),
        ("backend", cores.backend, evidence.observed.backend_usage),
        ("database", cores.database, evidence.observed.database_usage),
    )
    found: list[CoreGroup] = []
    for name, cpus, usage in programs:
        if not cpus:
            continue
        used, waited = (usage.cpu_cores_mean, usage.cpu_wait_cores_mean) if usage else (None, None)
        part = CoreGroup((name,), frozenset(cpus), cores.with_siblings(cpus), cores.physical(cpus), used, waited)
        for other in [other for other in found if other.cpus & part.cpus]:
            found.remove(other)
            own = other.own_cpus | part.own_cpus
            used, waited = _sum(other.used_cores, part.used_cores), _sum(other.waited_cores, part.waited_cores)
            part = CoreGroup((*other.names, *part.names), own, other.cpus | part.cpus, cores.physical(own), used, waited)
        found.append(part)
    return found


def _sum(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one + other


def _interrupts(part: CoreGroup, evidence: Evidence) -> float:
    """Return the time that a group's CPUs spent in interrupts, in cores. Interrupts do network work while programs wait for a CPU."""
    return sum(core.interrupts for core in evidence.observed.occupancy if core.cpu in part.cpus)


def _harness_cores(cpus: frozenset[int], evidence: Evidence) -> float:
    """Return the CPU use of httpbench itself, in cores, or 0 if httpbench may not run on these CPUs."""
    return evidence.observed.others.harness_cores if evidence.observed.others and cpus & set(evidence.cores.harness) else 0.0
