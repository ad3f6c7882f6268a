"""What a load generator has measured."""

from __future__ import annotations

from httpbench.model.frozen import Frozen, Name


class Distribution(Frozen):
    """A distribution of times in µs. Percentiles with fewer than ten samples beyond them are ``None``."""

    count: int
    """Number of samples."""
    min: float | None = None
    """Minimum, in µs. Null: no samples, or not reported."""
    mean: float | None = None
    """Mean, in µs. Null: no samples, or not reported."""
    stddev: float | None = None
    """Standard deviation, in µs. Null: no samples, or not reported."""
    max: float | None = None
    """Maximum, in µs. Null: no samples, or not reported."""
    tm99_9: float | None = None
    """Mean without the lowest and the highest 0.1% of samples, in µs. Null: no samples, or not reported."""
    p25: float | None = None
    """p25, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p50: float | None = None
    """p50, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p75: float | None = None
    """p75, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p90: float | None = None
    """p90, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p95: float | None = None
    """p95, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p99: float | None = None
    """p99, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p99_9: float | None = None
    """p99.9, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p99_99: float | None = None
    """p99.99, in µs. Null: fewer than ten samples beyond it, or not reported."""
    p2_5: float | None = None
    """p2.5, in µs, of a load generator that keeps no histogram. Null: fewer than ten samples beyond it, or not reported."""
    p97_5: float | None = None
    """p97.5, in µs, of a load generator that keeps no histogram. Null: fewer than ten samples beyond it, or not reported."""
    resolution_us: float | None = None
    """The load generator rounds times down to a multiple of this, in µs; figures below it are null. Null: it does not."""
    histogram: str | None = None
    """HdrHistogram V2, compressed, base64; its values are nanoseconds. Null: not kept."""


class Requests(Frozen):
    sent: int | None = None
    """Requests sent. Null: not reported."""
    completed: int
    """Complete responses, correct or not."""
    ok: int
    """Correct responses: with the expected status and, if it was checked, the expected body."""
    unsent: int = 0
    """Requests of an open loop that were due within the window, but no connection was free."""


class Interval(Frozen):
    """A slice of the measurement."""

    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Length, in seconds."""
    completed: int
    """Complete responses."""
    errors: int = 0
    """Requests without a correct response."""
    offered_rps: float | None = None
    """Mean offered rate, in requests/s. Null: closed loop, or not reported."""
    p50_us: float | None = None
    """p50, in µs: of response times in an open loop, otherwise of service times. Null: fewer than ten samples beyond it, or not
    reported."""
    p90_us: float | None = None
    """p90, in µs, as ``p50_us``; only with a rising rate."""
    p99_us: float | None = None
    """p99, in µs, as ``p50_us``."""
    p99_9_us: float | None = None
    """p99.9, in µs, as ``p50_us``."""
    bytes_received: int | None = None
    """Bytes received. Null: not reported."""


class OverSeconds(Frozen):
    """A count of each second, summed up over the seconds of a measurement."""

    mean: float
    """Mean."""
    stddev: float
    """Standard deviation."""
    min: float
    """Lowest second."""
    p1: float
    """p1: the lowest second, if there are fewer than 101."""
    p2_5: float
    """p2.5."""
    p50: float
    """p50."""
    p97_5: float
    """p97.5."""


class PerSecond(Frozen):
    """What came back in each second of a measurement."""

    seconds: int
    """Number of seconds."""
    requests: OverSeconds
    """Complete responses."""
    bytes_received: OverSeconds | None
    """Bytes received. Null: not reported."""


class Step(Frozen):
    """The part of a measurement in which one rate was offered."""

    rate_rps: float
    """Offered rate, in requests/s."""
    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Length, in seconds."""
    completed: int
    """Complete responses."""
    errors: int
    """Requests without a correct response."""
    response_time_us: Distribution
    """Response times, in µs."""


START_SPREAD_MS_MAX = 5.0
"""Starts of load hosts that are further apart than this, and the round trip, are said."""


class HostShare(Frozen):
    """What one of several load hosts did of a load that they made together."""

    name: str
    """Name of the load host."""
    connections: int
    """Its connections."""
    threads: int
    """Threads of its load generator."""
    completed: int
    """Complete responses that it got."""
    throughput_rps: float
    """Its correct responses per second."""
    busy: float
    """Useful work of the busiest thread of its load generator, as a share of the measured duration, 0 to 1."""
    waiting: float | None
    """Share of the measured duration in which a thread was ready to run and had no CPU, 0 to 1: that of the worst thread. Null: not
    reported."""
    stalled_us: float
    """Time for which a thread stood still for 10 ms or more at once, in µs: that of the worst thread."""
    lag_us_p99: float | None
    """p99 of the load generator's own lag behind the schedule, in µs. Null: closed loop, or fewer than ten samples beyond it."""
    start_ms: float
    """When it began, in ms after the first load host, within half of both round trips."""
    round_trip_ms: float
    """Shortest round trip in which its clock was read, through the Dask scheduler, in ms."""

    @property
    def is_late(self) -> bool:
        """Whether it began noticeably later than the first."""
        return self.start_ms > START_SPREAD_MS_MAX + self.round_trip_ms

    @property
    def full(self) -> float:
        """Share of the time in which its busiest thread worked, or waited for a CPU."""
        return self.busy + (self.waiting or 0.0)


class PartMeasurement(Frozen):
    """What came of one of the requests of a mix. Requests that were never sent count in the whole alone."""

    name: str
    """Name of its workload."""
    weight: int
    """Requests in each turn of the mix."""
    sent: int
    """Requests sent."""
    ok: int
    """Correct responses."""
    errors: int
    """Requests without a correct response."""
    throughput_rps: float
    """Correct responses per second."""
    time_us: Distribution
    """Response times in an open loop, otherwise service times, in µs."""


class SampledBodies(Frozen):
    """Whole responses that were kept during the load, and compared with the rule of the workload after it."""

    checked: int
    """Responses that were compared."""
    wrong: int
    """Responses that were not correct."""
    problems: tuple[str, ...] = ()
    """What was wrong, each problem once; at most five."""


class Measurement(Frozen):
    """What a load generator reported of one measured period."""

    generator: Name
    """Name of the load generator."""
    generator_version: str
    """Version of the load generator."""
    duration_s: float
    """Measured duration, in seconds."""
    requests: Requests
    """Counts of requests."""
    errors: dict[str, int] = {}
    """Count per kind of error; a kind that did not happen may be left out."""
    bytes_received: int | None = None
    """Bytes received. Null: not reported."""
    throughput_rps: float
    """Throughput: correct responses per second."""
    service_time_us: Distribution | None = None
    """Service times, in µs. Null: not reported."""
    response_time_us: Distribution | None = None
    """Response times, in µs. Null: closed loop."""
    schedule_lag_us: Distribution | None = None
    """Schedule lag, in µs: a late generator, or no free connection. Null: closed loop, or not reported."""
    connect_time_us: Distribution | None = None
    """Connect times, in µs. Null: not reported."""
    intervals: tuple[Interval, ...] = ()
    """Slices of the measured duration; empty: not reported."""
    per_second: PerSecond | None = None
    """Responses and bytes of each second, summed up by a load generator that reports no slices. Null: not reported."""
    steps: tuple[Step, ...] = ()
    """One for each rate of a rising rate; otherwise empty."""
    busy_cores: float | None = None
    """Cores' worth of time in which the load generator had work to do, polling aside. Null: not reported."""
    means_every_request: bool = False
    """Whether the mean service time covers every request, on connections that carry load all the time. Only then must Little's
    law hold for it in a closed loop."""
    unfinished: int = 0
    """Requests in flight at the end that are older than the p99: percentiles count their age as a lower bound. 0: none, or not reported."""
    unfinished_s: float = 0.0
    """Sum of these ages, in seconds."""
    load_hosts: tuple[HostShare, ...] = ()
    """What each load host did; empty: the load came from this machine."""
    parts: tuple[PartMeasurement, ...] = ()
    """Of a mix, what came of each of its requests; otherwise empty."""
    sampled_bodies: SampledBodies | None = None
    """What whole responses of the load showed. Null: none were kept, because every body was compared or none has a rule."""
    notes: tuple[str, ...] = ()
    """What the figures of this load generator leave out."""

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())

    @property
    def times_us(self) -> Distribution | None:
        """Those that stand for the measurement: at the highest rate, where there were several; of the response where there is a rate;
        else of the service."""
        return self.steps[-1].response_time_us if self.steps else self.response_time_us or self.service_time_us
