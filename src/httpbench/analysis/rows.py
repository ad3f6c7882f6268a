"""The rows of a table, and the properties that the rows of one table share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from httpbench.model import (
    BETWEEN_EVENTS,
    FIRST_BYTE,
    FIRST_EVENT,
    ClientWork,
    KernelCounts,
    Load,
    Probed,
    Scaling,
    Target,
    Trial,
    VerdictKind,
)
from httpbench.stats.summary import Estimate, Latency, Summary

BOUNDS = (VerdictKind.GENERATOR, VerdictKind.BOTH, VerdictKind.DATABASE)
"""Verdicts that make a result only a lower bound, because something other than the target was full or nearly full."""

VISIBLE_SHARE = 0.05
"""Minimum difference between the time to the first byte and the latency that tables and charts show, as a share of the latency."""


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
    kernel: KernelCounts | None = None
    """What the kernel counted in the profiled round. ``None``: the run has no profiles, or the kernel counted nothing."""

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
        """Whether something other than the target was full or nearly full, so that the target may be faster than measured.

        The limit of the load says nothing about how fast a server starts.
        """
        if self.summary.load.is_of_startup:
            return False
        limits = (*BOUNDS, *([VerdictKind.BACKEND] if self.target.is_declared else []))
        return self.counts and self.summary.verdict.kind in limits

    @property
    def shares_cores(self) -> bool:
        """Whether the load generator used cores of the target in any round."""
        return any(trial.plan.cores.shared for trial in self.trials)

    @property
    def latency(self) -> Latency | None:
        """Response time if the load has a rate and the load generator reports it, otherwise service time.

        For event streams, it is the time to the first event. For an overload, it is the service time: requests wait longer and longer
        before they are sent, so response times would only show how long the overload lasted.
        """
        if self.summary.load.is_overload:
            return self.summary.service_time_us
        return self.summary.first_event_us or self.summary.response_time_us or self.summary.service_time_us

    def latency_estimate(self, figure: str) -> Estimate | None:
        """Return a statistic of the latency such as ``p99``, of the time to the first byte such as ``ttfb_p99``, or of events."""
        summary = self.summary
        others = {FIRST_BYTE: summary.first_byte_us, FIRST_EVENT: summary.first_event_us, BETWEEN_EVENTS: summary.between_events_us}
        prefix = next((prefix for prefix in others if figure.startswith(prefix)), "")
        estimate: Estimate | None = getattr(others.get(prefix, self.latency), figure.removeprefix(prefix), None)
        return estimate

    @property
    def has_events(self) -> bool:
        """Whether the responses are event streams."""
        return any(trial.measurement and trial.measurement.events for trial in self.trials)

    @property
    def begins_early(self) -> bool:
        """Whether the first byte of a response arrives visibly earlier than the whole response."""
        pairs = [(self.latency_estimate(f"{FIRST_BYTE}{name}"), self.latency_estimate(name)) for name in ("p50", "p99")]
        return any(first.median < (1 - VISIBLE_SHARE) * last.median for first, last in pairs if first and last)

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
    """The load that the rows share. If it is a share of each target's own peak, the rates of the rows differ, and this load has the highest
    one."""
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
    own_baselines: Mapping[str, Row] = field(default_factory=dict)
    """Baseline of each proxy by the proxy's id, if the load is a share of each target's own peak: the backend at the same rate."""

    @property
    def has_events(self) -> bool:
        """Whether the responses are event streams."""
        return any(row.has_events for row in self.rows)

    def baseline_of(self, target: str, baseline: str | None) -> Row | None:
        """Return the row that a proxy is compared with, or ``None`` if there is none. ``baseline`` is the id of the run's baseline."""
        return self.own_baselines.get(target) or self.row(baseline)

    def row(self, target: str | None) -> Row | None:
        """Return the row of a target, or ``None`` if this table lacks it."""
        return next((row for row in self.rows if row.target.id == target), None)
