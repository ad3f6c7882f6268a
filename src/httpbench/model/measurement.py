"""Measurements of a load generator."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from httpbench.model.frozen import Frozen, Name

FIRST_BYTE = "ttfb_"
"""Beginning of the names of statistics of the time to the first byte, such as ``ttfb_p99``."""

FIRST_EVENT, BETWEEN_EVENTS = "first_event_", "between_"
"""Beginnings of the names of statistics of the time to the first event of a stream, and of the time between events."""

Percentile = Annotated[float | None, Field(description="Percentile, in µs. Null: fewer than ten samples beyond it, or not reported.")]


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
    p25: Percentile = None
    p50: Percentile = None
    p75: Percentile = None
    p90: Percentile = None
    p95: Percentile = None
    p99: Percentile = None
    p99_9: Percentile = None
    p99_99: Percentile = None
    # p2.5 and p97.5 are reported only by load generators that keep no histogram.
    p2_5: Percentile = None
    p97_5: Percentile = None
    resolution_us: float | None = None
    """Unit to which the load generator rounds times down, in µs. Times below this unit are null. Null: no rounding."""
    histogram: str | None = None
    """Histogram of the times in nanoseconds: HdrHistogram V2, compressed, as base64. Null: not kept."""


class Requests(Frozen):
    sent: int | None = None
    """Number of requests sent. Null: not reported."""
    completed: int
    """Number of complete responses, correct or not."""
    ok: int
    """Number of correct responses: those with the expected status and, if checked, the expected body."""
    before_window: int | None = None
    """Number of correct responses during the load generator's own warm-up. Null: not reported."""
    ok_in_all: int | None = None
    """Number of correct responses during the load generator's whole run, including dropped slices. Null: not reported."""
    unsent: int = 0
    """Number of requests of an open loop that were due within the window but were never sent because no
    connection was free."""

    @property
    def ok_at_least(self) -> int:
        """Lower bound of the number of correct responses that the load generator received, including those during its own warm-up."""
        return self.ok + (self.before_window or 0) if self.ok_in_all is None else self.ok_in_all


class Interval(Frozen):
    """A slice of time within a measurement."""

    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Duration, in seconds."""
    completed: int
    """Number of complete responses. Of event streams: number of events."""
    errors: int = 0
    """Number of requests without a correct response."""
    offered_rps: float | None = None
    """Mean offered rate, in requests/s. Null: closed loop, or not reported."""
    p50_us: float | None = None
    """p50, in µs: response time in an open loop, otherwise service time. Null: fewer than ten samples beyond it, or not reported."""
    p90_us: float | None = None
    """p90, in µs, defined like ``p50_us``. Reported only with a rising rate."""
    p99_us: float | None = None
    """p99, in µs, defined like ``p50_us``."""
    p99_9_us: float | None = None
    """p99.9, in µs, defined like ``p50_us``."""
    bytes_received: int | None = None
    """Number of bytes received. Null: not reported."""
    slow: int | None = None
    """Number of responses that took longer than 250 ms, including requests that timed out. Reported only if a backend fails."""


class OverSeconds(Frozen):
    """Statistics of a count per second, over all seconds of a measurement."""

    mean: float
    """Mean count per second."""
    stddev: float
    """Standard deviation of the counts."""
    min: float
    """Minimum of the counts."""
    p1: float
    """p1 of the counts. With fewer than 101 seconds, it equals the minimum."""
    p2_5: float
    """p2.5 of the counts."""
    p50: float
    """p50 of the counts."""
    p97_5: float
    """p97.5 of the counts."""


class PerSecond(Frozen):
    """Statistics of responses and bytes per second, over all seconds of a measurement."""

    seconds: int
    """Number of seconds."""
    requests: OverSeconds
    """Complete responses per second."""
    bytes_received: OverSeconds | None
    """Bytes received per second. Null: not reported."""


class Step(Frozen):
    """A part of a measurement at one offered rate."""

    rate_rps: float
    """Offered rate, in requests/s."""
    start_s: float
    """Start, in seconds since the measurement began."""
    duration_s: float
    """Duration, in seconds."""
    completed: int
    """Number of complete responses."""
    errors: int
    """Number of requests without a correct response."""
    response_time_us: Distribution
    """Response times, in µs."""


START_SPREAD_MS_MAX = 5.0
"""Maximum delay of a load host's start, in ms, in addition to its round trip. Reports mention hosts with a longer delay."""


class HostShare(Frozen):
    """The share of one load host in a load that several hosts generate."""

    name: str
    """Name of the load host."""
    connections: int
    """Number of connections of this load host."""
    threads: int
    """Number of threads of the load generator on this load host."""
    completed: int
    """Number of complete responses on this load host."""
    throughput_rps: float
    """Correct responses per second on this load host."""
    busy: float
    """Share of the measured duration in which the busiest thread of the load generator worked, 0 to 1."""
    waiting: float | None
    """Share of the measured duration in which a thread of the load generator was ready to run but had no CPU, 0 to 1, for the thread with
    the largest share. Null: not reported."""
    stalled_us: float
    """Time that the load generator lost to pauses of 10 ms or more, in µs, for the thread that lost the most."""
    lag_us_p99: float | None
    """p99 of the generator lag, in µs. Null: closed loop, or fewer than ten samples beyond it."""
    start_ms: float
    """Time between the start of the load on the first host and on this host, in ms. The error is at most half the sum of both hosts' round
    trips."""
    round_trip_ms: float
    """Shortest round trip while reading this host's clock through the Dask scheduler, in ms."""

    @property
    def is_late(self) -> bool:
        """Whether this host started noticeably later than the first host."""
        return self.start_ms > START_SPREAD_MS_MAX + self.round_trip_ms

    @property
    def full(self) -> float:
        """Share of the measured duration in which the busiest thread of the load generator worked or waited for a CPU."""
        return self.busy + (self.waiting or 0.0)


class PartMeasurement(Frozen):
    """The results of one workload in a mix. Requests that were never sent count only in the total of the mix."""

    name: str
    """Name of the workload."""
    weight: int
    """Weight of the workload in the mix."""
    sent: int
    """Number of requests sent."""
    ok: int
    """Number of correct responses."""
    errors: int
    """Number of requests without a correct response."""
    throughput_rps: float
    """Correct responses per second."""
    time_us: Distribution
    """Times, in µs: response times in an open loop, otherwise service times."""


class SampledBodies(Frozen):
    """The result of checking sampled responses against the workload's rule after the load."""

    checked: int
    """Number of responses checked."""
    wrong: int
    """Number of incorrect responses."""
    problems: tuple[str, ...] = ()
    """Distinct problems, at most five."""


class Stalls(Frozen):
    """Periods of 10 ms or more in which a thread of the load generator had requests in flight but received no response."""

    count: int
    """Number of stalls."""
    longest_us: float
    """Length of the longest stall, in µs."""
    total_us: float
    """Total length of all stalls, in µs."""


class TlsHandshakes(Frozen):
    """Numbers of TLS handshakes, including those before the measured duration."""

    full: int
    """Number of full handshakes."""
    resumed: int
    """Number of handshakes that resumed an earlier session."""
    cipher: str | None = None
    """Cipher suite of the first handshake. Null: not reported."""


class Events(Frozen):
    """Events of event streams (``text/event-stream``)."""

    count: int
    """Number of events."""
    streams: int
    """Number of streams with at least one event."""
    numbered_streams: int
    """Number of streams whose ids show how many events were lost."""
    lost: int | None
    """Number of ids that are missing in the numbered streams. Null: no stream is numbered."""
    first_us: Distribution
    """Times from the intended send of a request to the first event of its stream, in µs."""
    between_us: Distribution
    """Times between successive events of a stream, in µs."""
    first_censored: int
    """Number of times in ``first_us`` that are lower bounds."""
    between_censored: int
    """Number of times in ``between_us`` that are lower bounds."""

    @property
    def begun(self) -> int:
        """Number of requests whose stream has begun with an event."""
        return self.first_us.count - self.first_censored


class Measurement(Frozen):
    """The report of a load generator on one measured period."""

    generator: Name
    """Name of the load generator."""
    generator_version: str
    """Version of the load generator."""
    duration_s: float
    """Measured duration, in seconds."""
    requests: Requests
    """Counts of requests."""
    errors: dict[str, int] = {}
    """Number of errors of each kind. Kinds that didn't occur can be missing."""
    counts_errors: bool = True
    """Whether the numbers of errors are known. Published results may omit them."""
    bytes_received: int | None = None
    """Number of bytes received. Null: not reported."""
    throughput_rps: float
    """Throughput: correct responses per second. Of event streams: events per second."""
    service_time_us: Distribution | None = None
    """Service times, in µs. Null: not reported."""
    response_time_us: Distribution | None = None
    """Response times, in µs. Null: closed loop."""
    first_byte_us: Distribution | None = None
    """Times to the first byte, in µs. Null: not reported, or the rate rises."""
    events: Events | None = None
    """Events. Null: the responses aren't event streams."""
    schedule_lag_us: Distribution | None = None
    """Schedule lag, in µs: generator lag plus connection wait. Null: closed loop, or not reported."""
    connect_time_us: Distribution | None = None
    """Connect times, in µs. Null: not reported."""
    connections_opened: int | None = None
    """Number of connections that the load generator opened during its whole run. Null: not reported."""
    intervals: tuple[Interval, ...] = ()
    """Slices of the measured duration. Empty: not reported."""
    per_second: PerSecond | None = None
    """Responses and bytes per second, if the load generator doesn't report ``intervals``. Null: not reported."""
    steps: tuple[Step, ...] = ()
    """Results at each step of a rising rate. Empty: the rate didn't rise."""
    busy_cores: float | None = None
    """Mean CPU usage of the load generator, excluding polling, in cores. Null: not reported."""
    means_every_request: bool = False
    """Whether the mean service time covers every request, and the connections are under load all the time. If so, Little's law must hold in
    a closed loop."""
    tls_handshakes: TlsHandshakes | None = None
    """TLS handshakes. Null: without TLS, or not reported."""
    latency_step_us: float | None = None
    """Step in which the load generator records times, in µs. Null: it keeps at least three significant digits."""
    stalls: Stalls | None = None
    """Stalls of the target in a closed loop, which percentiles can hide. Null: open loop, or not reported."""
    unfinished: int = 0
    """Number of requests that were in flight at the end and older than the p99. Percentiles include the age of such a request as a lower
    bound of its time. 0: none, or not reported."""
    unfinished_s: float = 0.0
    """Sum of the ages of the ``unfinished`` requests, in seconds."""
    load_hosts: tuple[HostShare, ...] = ()
    """Each load host's share of the load. Empty: the load came from this machine."""
    parts: tuple[PartMeasurement, ...] = ()
    """Results of each workload in a mix. Empty: not a mix."""
    sampled_bodies: SampledBodies | None = None
    """Result of checking sampled responses. Null: none were kept, because every body was compared or no workload has a rule."""
    notes: tuple[str, ...] = ()
    """Limitations of this load generator's measurements, one sentence each."""

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())

    @property
    def times_us(self) -> Distribution | None:
        """Times to report as the latency of the measurement.

        These are response times in an open loop, and service times in a closed loop. With a rising rate, only the step with the highest
        rate counts. For event streams, these are the times to the first event.
        """
        if self.events:
            return self.events.first_us
        return self.steps[-1].response_time_us if self.steps else self.response_time_us or self.service_time_us

    def latency_us(self, figure: str) -> float | None:
        """Return a statistic of the latency such as ``p99``, of the time to the first byte such as ``ttfb_p99``, or of events, in µs.

        The result is ``None`` if the statistic is unknown.
        """
        others = {
            FIRST_BYTE: self.first_byte_us,
            FIRST_EVENT: self.events and self.events.first_us,
            BETWEEN_EVENTS: self.events and self.events.between_us,
        }
        prefix = next((prefix for prefix in others if figure.startswith(prefix)), "")
        value: float | None = getattr(others.get(prefix, self.times_us), figure.removeprefix(prefix), None)
        return value
