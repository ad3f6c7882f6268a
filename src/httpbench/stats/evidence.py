"""Collect the evidence for a verdict, and compute how busy each program was."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.model import Cores, Criteria, Load, Measurement, Observed, Scaling, Trial, Usage

ERROR_SHARE_LIMIT = 0.001
"""Maximum share of requests that may fail. A lost request takes as long as the request timeout. One lost request in a thousand affects the
p99.9 but no lower percentile."""

GENERATOR_BUSY = 0.95
"""Minimum share of its cores that a load generator must use to count as busy. This share is higher than the share for targets, because a
generator that was idle for a tenth of the time could have sent more requests. Time in which a quota or another program kept the generator
from running counts as busy time."""

GENERATOR_NEARLY_BUSY = 0.90
"""Minimum share of its cores that a load generator must use to count as nearly busy. Such a generator may have slowed down a target that
was itself nearly full."""

GENERATOR_STARVED = 0.25
"""Minimum share of the time in which a load generator must be kept from running to count as the limit. The generator may be idle for the
rest of the time. If it had run, a target that wasn't busy could have answered more requests."""

OTHERS_SHARE_MAX = 0.05
"""Maximum share of a program's physical cores that other programs may use. A saturated target that loses 5% of its cores also loses 5% of
its throughput, while rounds on a quiet machine differ by only 2%. In a closed loop, the target and the generator wait for each other, so a
delay on one side also leaves the other side idle."""

THROTTLED_SHARE_MIN = 0.05
"""Minimum share of a quota's periods in which a program must be throttled before the quota counts as a limit. The value is the same as
:data:`OTHERS_SHARE_MAX`."""

THREAD_FULL = 0.95
"""Minimum share of a core that a thread must use to count as full. A thread can't run on two cores at once, so a full thread can be the
limit even if other cores are idle."""


USUAL = Criteria()


@dataclass(frozen=True, slots=True)
class Evidence:
    """The inputs for the verdict of a measured trial, with methods that compute how busy each program was."""

    measurement: Measurement
    load: Load
    cores: Cores
    observed: Observed
    """Observations of the trial. Without the CPU time of the generator, the limit is unknown. Without the CPU time of the target, it is
    known only if the generator was busy."""
    scaling: Scaling = Scaling.MULTI
    """Scaling of the target. A target with ``single`` scaling counts as busy if it fills one core, even if it has several."""
    target_cpus: float | None = None
    """CPU limit of the target's container, in cores. ``None``: no limit."""
    criteria: Criteria = USUAL
    slices: int | None = None
    """Number of slices. ``None``: the trial wasn't measured in slices."""

    @property
    def windows(self) -> int:
        """Number of measured windows."""
        return self.slices or 1

    def target_capacity(self) -> int:
        """Return the number of physical cores that the target can use."""
        if self.scaling is Scaling.SINGLE:
            return 1
        if not self.cores.target:  # a baseline whose backend runs on the load host
            return max(self.backend_capacity(), 1)
        return max(self.cores.physical(self.cores.target), 1)

    def backend_capacity(self) -> int:
        """Return the number of physical cores of the backend, which runs on this machine or on the load host."""
        there = self.observed.load_host.backend_cores if self.observed.load_host else 0
        return there or self.cores.physical(self.cores.backend)

    def generator_capacity(self) -> int:
        """Return the number of physical cores that the generator can use, which is at most its number of threads or connections."""
        cores = self.observed.load_host.cores if self.observed.load_host else max(self.cores.physical(self.cores.generator), 1)
        return min(cores, self.load.threads or cores, self.load.connections)

    def generator_is_busy(self, share: float = GENERATOR_BUSY) -> bool:
        """Return whether the generator couldn't have sent more load; false if its CPU time is unknown.

        ``share`` is the minimum share of its cores at which the generator counts as busy: ``GENERATOR_BUSY`` or ``GENERATOR_NEARLY_BUSY``.
        """
        if hosts := self.measurement.load_hosts:
            return any(host.full >= share for host in hosts)  # the fullest host also slows down the others
        usage = self.observed.generator_usage
        if usage is None:
            return False
        if self.generator_thread_is_full():
            return True
        capacity, waited = self.generator_capacity(), self._kept_waiting()
        return waited >= GENERATOR_STARVED * capacity or self.generator_cores(usage) + waited >= share * capacity

    def generator_cores(self, usage: Usage) -> float:
        """Return the CPU use of the generator in cores, without polling if the generator reports how long it polled."""
        reported, cores = self.measurement.busy_cores, self.cores
        if reported is not None:
            return reported
        return self._with_interrupts(usage, cores.generator, {*cores.target, *cores.backend, *cores.database})

    def generator_thread_is_full(self) -> bool:
        """Return whether a thread of the generator was full without counting polling; false if unknown."""
        usage, reported = self.observed.generator_usage, self.measurement.busy_cores
        if usage is None or usage.thread_cores_max is None:
            return False
        useful = 1.0 if reported is None or usage.cpu_cores_mean <= 0 else min(reported / usage.cpu_cores_mean, 1.0)
        return usage.thread_cores_max * useful >= THREAD_FULL

    def target_cores(self, usage: Usage) -> float:
        """Return the CPU use of the target in cores, including interrupts on cores that no other program of the run uses."""
        cores = self.cores
        return self._with_interrupts(usage, cores.target, {*cores.generator, *cores.backend, *cores.database, *cores.harness})

    def target_fill(self, usage: Usage) -> tuple[float, float]:
        """Return how many cores the target used and how many it could use.

        The second value is the number of the target's cores, or the CPU limit of its container if the target was closer to that limit.
        Interrupts keep cores busy, but they don't count toward the container's limit.
        """
        cores = (self.target_cores(usage), float(self.target_capacity()))
        limit = (usage.cpu_cores_mean, self.target_cpus) if self.target_cpus else cores
        return max(cores, limit, key=lambda fill: fill[0] / fill[1])

    def _with_interrupts(self, usage: Usage, cpus: Sequence[int], of_others: Collection[int]) -> float:
        """Return a program's CPU use in cores, including interrupts on its CPUs if no other program used those CPUs.

        Some kernels include interrupts in the CPU time of the running process, and others don't. The busy time of the CPUs never includes
        interrupts, so comparing it with the CPU time prevents counting interrupts twice.
        """
        cores = [core for core in self.observed.occupancy if core.cpu in cpus]
        used = usage.cpu_cores_mean
        if not cores or set(cpus) & set(of_others):
            return used
        busy = sum(core.busy for core in cores)
        if busy - used > OTHERS_SHARE_MAX * self.cores.physical(cpus):
            return used
        return max(used, min(busy, used) + sum(core.interrupts for core in cores))

    def _kept_waiting(self) -> float:
        """Return the time for which the generator was ready to run but had no CPU, in cores.

        The result is 0 on shared cores, where the target, its database or the backend may have kept the generator waiting.
        """
        usage, cores = self.observed.generator_usage, self.cores
        is_alone = not (cores.shared or cores.database_shared or cores.backend_shared)
        return usage.cpu_wait_cores_mean or 0.0 if usage and is_alone else 0.0

    def generator_fill(self) -> dict[str, Any]:
        """Return how busy the generator was and how long it waited for a CPU. With several load hosts, describe the busiest one."""
        if hosts := self.measurement.load_hosts:
            fullest = max(hosts, key=lambda host: host.full)
            return {"name": "generator", "fullest_thread_cores": fullest.full, "load_host": fullest.name}
        assert self.observed.generator_usage is not None
        waited, capacity = self._kept_waiting(), self.generator_capacity()
        return fill(
            "generator",
            self.generator_cores(self.observed.generator_usage),
            capacity,
            host=self.observed.load_host.name if self.observed.load_host else None,
            full_thread_of=self.observed.generator_usage.threads if self.generator_thread_is_full() and capacity > 1 else None,
            waited_share=waited if waited >= 1 - GENERATOR_BUSY else None,
        )


def evidence_of(trial: Trial) -> Evidence | None:
    """Return the evidence for the verdict of a trial; ``None`` if nothing was measured."""
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
        slices=trial.plan.slices,
    )


def is_baseline(trial: Trial) -> bool:
    """Return whether the trial measured the backend of proxies directly."""
    return trial.observed.target_usage is None and trial.observed.backend_usage is not None


def throttled(usage: Usage | None) -> float | None:
    """Return the share of periods in which a quota throttled a program; ``None`` if there is no quota or the share doesn't matter."""
    share = usage.throttled_share if usage else None
    return share if share is not None and share >= THROTTLED_SHARE_MIN else None


def fill(name: str, cores: float, capacity: float, **more: Any) -> dict[str, Any]:
    """Return a program's core usage and capacity as the data for a reason. Values in ``more`` that are ``None`` are omitted."""
    return {"name": name, "cores": cores, "capacity": capacity, **{key: value for key, value in more.items() if value is not None}}
