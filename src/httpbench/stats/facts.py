"""Compute the numbers behind a verdict from a stored trial, with the same functions that the verdict uses."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from httpbench.model import CoreOccupancy, Frozen, Network, Trial
from httpbench.stats.disturbance import others_cores
from httpbench.stats.evidence import evidence_of
from httpbench.stats.summary import throughput_rps
from httpbench.stats.validity import failed_requests, little_ratio


class Facts(Frozen):
    """The numbers behind a trial's verdict. ``None``: not measured, or meaningless for the trial's load."""

    target_cores: float | None
    """Mean CPU use of the target, including interrupts on its own cores, in cores. Null: not measured."""
    target_capacity_cores: int
    """Number of physical cores that the target could have used."""
    target_thread_cores_max: float | None = None
    """Mean CPU use of the target's busiest thread, in cores. Null: not measured, or the kernel does not report it."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that ran or were ready to run while the target got no requests. This is the lowest result of
    several checks. A target with a value of at least 0.5 counts as polling. Null: not measured."""
    target_core_max: float | None = None
    """Share of the measurement, 0 to 1, during which the target's busiest logical CPU ran any program. Null: not measured."""
    target_wait_cores: float | None = None
    """Time for which the target's threads were ready to run but had no CPU, in cores. Null: not measured."""
    target_throttled_share: float | None = None
    """Share of the periods of the target's CPU quota in which the kernel throttled the target, 0 to 1. Null: no quota, or not measured."""
    generator_cores: float | None
    """Mean CPU use of the load generator, in cores. Null: not measured."""
    generator_capacity_cores: int
    """Number of physical cores that the load generator could have used."""
    generator_thread_cores_max: float | None = None
    """Mean CPU use of the load generator's busiest thread, in cores. Null: not measured, or the kernel does not report it."""
    generator_core_max: float | None = None
    """Share of the measurement, 0 to 1, during which the load generator's busiest logical CPU ran any program. Null: not measured."""
    generator_wait_cores: float | None
    """Time for which the load generator was ready to run but had no CPU, in cores. Null: not measured."""
    others_cores: float | None
    """CPU use of other programs on the run's cores, excluding httpbench itself, in cores. Null: not measured."""
    stolen_cores: float | None
    """CPU time on the run's cores that the hypervisor gave to other virtual machines, in cores. Null: not measured."""
    achieved_share: float | None
    """Throughput / offered rate. Null: closed loop."""
    schedule_lag_us_p99: float | None
    """p99 of the schedule lag, in µs. Null: closed loop, or too few samples."""
    little_ratio: float | None
    """Throughput × mean service time / requests in flight. By Little's law, this ratio is 1. Null: open loop, or other reasons why the
    ratio may differ from 1."""
    failed_share: float
    """Share of requests without a correct response, 0 to 1."""
    network: Network | None
    """Counters of the kernel's network stack. Null: not read."""


def facts(trial: Trial) -> Facts | None:
    """Return the numbers behind a trial's verdict; ``None`` if nothing was measured."""
    evidence = evidence_of(trial)
    if evidence is None:
        return None
    measurement, seen = evidence.measurement, evidence.observed
    target, generator = seen.target_usage, seen.generator_usage
    failed = failed_requests(measurement)
    rate = evidence.load.rate_rps
    lag = measurement.schedule_lag_us
    return Facts(
        target_cores=evidence.target_cores(target) if target else None,
        target_capacity_cores=evidence.target_capacity(),
        target_thread_cores_max=target.thread_cores_max if target else None,
        target_polling_threads=seen.target_polling_threads,
        target_core_max=_fullest(seen.occupancy, evidence.cores.target),
        target_wait_cores=target.cpu_wait_cores_mean if target else None,
        target_throttled_share=target.throttled_share if target else None,
        generator_cores=generator.cpu_cores_mean if generator else None,
        generator_capacity_cores=evidence.generator_capacity(),
        generator_thread_cores_max=generator.thread_cores_max if generator else None,
        generator_core_max=_fullest(seen.load_host.occupancy) if seen.load_host else _fullest(seen.occupancy, evidence.cores.generator),
        generator_wait_cores=generator.cpu_wait_cores_mean if generator else None,
        others_cores=others_cores(evidence),
        stolen_cores=sum(core.stolen for core in seen.occupancy) if seen.occupancy else None,
        achieved_share=throughput_rps(measurement) / rate if rate and not measurement.events else None,
        schedule_lag_us_p99=lag.p99 if lag else None,
        little_ratio=little_ratio(evidence),
        failed_share=failed / max(measurement.requests.ok + failed, 1),
        network=seen.network,
    )


def _fullest(occupancy: Iterable[CoreOccupancy], cpus: Collection[int] | None = None) -> float | None:
    """Return how busy the busiest of these CPUs was. Without ``cpus``, all CPUs are considered."""
    return max((core.busy + core.interrupts for core in occupancy if cpus is None or core.cpu in cpus), default=None)
