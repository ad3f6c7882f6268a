"""The figures behind a verdict: computed from a stored trial, by the functions that drew the verdict."""

from __future__ import annotations

from httpbench.model import Frozen, Network, Trial
from httpbench.stats.evidence import evidence_of, generator_capacity, others_cores, target_capacity
from httpbench.stats.summary import throughput_rps
from httpbench.stats.validity import failed_requests, little_ratio


class Facts(Frozen):
    """Of one trial. ``None``: not measured, or without meaning for its load."""

    target_cores: float | None
    """Mean CPU use of the target, in cores' worth. Null: not watched."""
    target_capacity_cores: int
    """Cores that the target could have filled."""
    generator_cores: float | None
    """Mean CPU use of the load generator, in cores' worth. Null: not watched."""
    generator_capacity_cores: int
    """Cores that the load generator could have filled."""
    generator_wait_cores: float | None
    """Time in which the load generator was ready to run and had no CPU, in cores' worth. Null: not watched."""
    others_cores: float | None
    """CPU use of other programs on the measured cores, in cores' worth. Null: not watched."""
    stolen_cores: float | None
    """CPU time of the measured cores that the hypervisor gave to others, in cores' worth. Null: not watched."""
    achieved_share: float | None
    """Throughput / offered rate. Null: closed loop."""
    schedule_lag_us_p99: float | None
    """p99 of the schedule lag, in µs. Null: closed loop, or too few samples."""
    little_ratio: float | None
    """Throughput × mean service time / requests in flight: 1 by Little's law. Null: open loop, or without meaning for this load
    generator."""
    failed_share: float
    """Requests without a correct response, as a share of all, 0 to 1."""
    network: Network | None
    """Counters of the kernel's network stack. Null: not read."""


def facts(trial: Trial) -> Facts | None:
    """``None`` where nothing was measured."""
    evidence = evidence_of(trial)
    if evidence is None:
        return None
    measurement, target, generator = evidence.measurement, evidence.target_usage, evidence.generator_usage
    failed = failed_requests(measurement)
    rate = evidence.load.rate_rps
    lag = measurement.schedule_lag_us
    return Facts(
        target_cores=target.cpu_cores_mean if target else None,
        target_capacity_cores=target_capacity(evidence),
        generator_cores=generator.cpu_cores_mean if generator else None,
        generator_capacity_cores=generator_capacity(evidence),
        generator_wait_cores=generator.cpu_wait_cores_mean if generator else None,
        others_cores=others_cores(evidence, target, generator) if target and generator and evidence.occupancy else None,
        stolen_cores=sum(core.stolen for core in evidence.occupancy) if evidence.occupancy else None,
        achieved_share=throughput_rps(measurement) / rate if rate else None,
        schedule_lag_us_p99=lag.p99 if lag else None,
        little_ratio=little_ratio(evidence),
        failed_share=failed / max(measurement.requests.ok + failed, 1),
        network=trial.network,
    )
