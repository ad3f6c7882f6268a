"""The rows of a table, and the properties that the rows of one table share."""

from __future__ import annotations

from dataclasses import dataclass, replace

from httpbench.model import ClientWork, Load, Probed, Scaling, Target, Trial, VerdictKind
from httpbench.stats.summary import Estimate, Latency, Summary

BOUNDS = (VerdictKind.GENERATOR, VerdictKind.BOTH, VerdictKind.DATABASE)
"""Verdicts that make a result only a lower bound, because something other than the target was full or nearly full."""


@dataclass(frozen=True, slots=True)
class Row:
    """One target under one load."""

    target: Target
    summary: Summary
    trials: tuple[Trial, ...]
    """The last attempt of each round."""
    response_bytes: int | None
    """Size of the sampled response, including its header block."""
    odd_size: bool
    """Whether the response size differs from the median of the group by more than the tolerance."""
    log_tail: str | None
    """Last lines of the log from the most recent round that doesn't count."""
    probed: Probed | None
    """Result of the first probe of this target in the run."""
    measured: Summary | None = None
    """Results of the rounds that don't count, if no round counts. Tables show these results struck through and never compare them."""
    repeated: tuple[Trial, ...] = ()
    """Disturbed trials that were followed by another attempt."""

    @property
    def counts(self) -> bool:
        """Whether at least one round counts."""
        return self.summary.rounds_counting > 0

    @property
    def as_measured(self) -> Row:
        """This row, with the results of the rounds that don't count if no round counts."""
        return self if self.measured is None else replace(self, summary=self.measured)

    @property
    def counts_partly(self) -> bool:
        """Whether some rounds count and others don't."""
        return 0 < self.summary.rounds_counting < self.summary.rounds

    @property
    def attempts(self) -> list[Trial]:
        """All trials, ordered by round and attempt."""
        return sorted((*self.trials, *self.repeated), key=lambda trial: (trial.plan.round, trial.plan.attempt))

    @property
    def is_lower_bound(self) -> bool:
        """Whether something other than the target was full or nearly full, so that the target may be faster than measured."""
        limits = (*BOUNDS, *([VerdictKind.BACKEND] if self.target.is_declared else []))
        return self.counts and self.summary.verdict.kind in limits

    @property
    def latency(self) -> Latency | None:
        """Response time if the load has a rate and the load generator reports it, otherwise service time."""
        return self.summary.response_time_us or self.summary.service_time_us

    @property
    def headline(self) -> Estimate | None:
        """Throughput, or p99 in µs if the load has a rate, because the rate fixes throughput."""
        if self.summary.load.rate_rps is None:
            return self.summary.throughput_rps
        return self.latency.p99 if self.latency else None


@dataclass(frozen=True, slots=True)
class LoadOrigin:
    """The machines that sent the load, if it didn't come from the target's own machine."""

    hosts: int
    name: str | None = None
    """Name of the load host, if httpbench reaches it over ssh. ``None``: the hosts are Dask workers."""
    cores: int = 0
    """Number of physical cores of the load host. 0: the hosts are Dask workers."""
    has_backend: bool = False
    """Whether the load host also ran the backend of the proxies."""
    slowest: str | None = None
    """Name of the Dask worker that sent its requests with the longest delay. ``None``: unknown."""
    lag_us: float = 0.0
    """99th percentile of the delay with which ``slowest`` sent its requests, in µs."""


@dataclass(frozen=True, slots=True)
class Group:
    """One table, whose rows can be compared with each other."""

    scaling: Scaling
    workload: str
    load: Load
    load_generator: str
    several_generators: bool
    """Whether the run used more than one load generator."""
    generator_version: str | None
    """Version of the load generator. ``None``: no trial recorded it."""
    cores_shared: bool
    backend_shared: bool
    """Whether the backend of proxies and the load generator shared a core."""
    database_shared: bool
    """Whether the database and the load generator shared a core."""
    target_cores: int
    """Number of physical cores that the targets got."""
    workers: int | None
    """Number of workers that the user chose. ``None``: one per core."""
    scale: float
    rounds: int
    generator_notes: tuple[str, ...]
    """Limitations that the load generator reported in any trial."""
    rows: tuple[Row, ...]
    load_origin: LoadOrigin | None = None
    """Machines that sent the load. ``None``: the target's own machine."""
    client_work: ClientWork | None = None
    """Work that the clients did. ``None``: the targets are not clients."""
    slices: int | None = None
    """Number of slices in each trial. ``None``: trials aren't measured in slices."""
    proxy_baseline: str | None = None
    """Id of the baseline of proxies. The baseline has no rank because it is not a proxy. ``None``: the targets are not proxies."""

    def row(self, target: str | None) -> Row | None:
        """Return the row of a target, or ``None`` if this table lacks it."""
        return next((row for row in self.rows if row.target.id == target), None)
