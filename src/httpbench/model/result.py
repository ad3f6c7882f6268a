"""What was measured, and where: measurements, verdicts, trials and runs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from httpbench.model.container import ContainerRun
from httpbench.model.entry import Database
from httpbench.model.frozen import Frozen, Name
from httpbench.model.gate import Gate
from httpbench.model.load import Table, TrialPlan, Workload
from httpbench.model.noise import Noise
from httpbench.model.probe import Probed
from httpbench.model.search import Search
from httpbench.model.strangers import Others
from httpbench.model.target import Target


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


class Timing(Frozen):
    """A process from its start until it was reaped."""

    wall_s: float
    """Wall time from the start of the process until it was reaped, in seconds."""
    user_s: float
    """CPU time in user mode, in seconds."""
    system_s: float
    """CPU time in the kernel, in seconds."""
    rss_bytes_peak: int | None = None
    """Peak resident memory, in bytes. Null: not reported, or not above what a process has before it becomes the program."""

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


class WorkDone(Frozen):
    """What the reference server counted while a client ran: proof that it did the same work as the others."""

    requests: int
    """Requests received."""
    connections: int
    """Connections accepted."""
    in_flight_max: int
    """Highest number of requests that waited for their response at the same moment."""
    pipelined: int
    """Requests that came before the response to the previous one on their connection was sent."""
    wrong_requests: int
    """Requests with another method or path, or with a body, and what is not HTTP at all."""
    body_bytes_sent: int
    """Bytes of all bodies sent."""
    bytes_sent: int
    """Bytes sent: heads and bodies."""
    first_request: str = ""
    """The head of the first request, as it came; empty: none came."""


class ClientMeasurement(Frozen):
    """A client that was timed as a whole process."""

    timer: Name
    """Name of the timer."""
    timer_version: str
    """Version of the timer."""
    requests: int
    """Number of requests that the client was told to make."""
    whole: Timing
    """The whole process."""
    startup: Timing
    """The same program, told to make no request."""
    done: WorkDone
    """What the reference server counted in the timed run."""
    done_held: WorkDone
    """What it counted in an earlier, untimed run with delayed responses, so that a client that does not wait is detected."""

    @property
    def requests_rps(self) -> float | None:
        """With start-up taken off; ``None`` where that took as long as all."""
        left_s = self.whole.wall_s - self.startup.wall_s
        return self.requests / left_s if left_s > 0 else None

    @property
    def cpu_us_per_request(self) -> float | None:
        """Processor time of a request, with start-up taken off; ``None`` where that took as much as all."""
        left_s = self.whole.cpu_s - self.startup.cpu_s
        return left_s * 1e6 / self.requests if left_s > 0 else None


class Sample(Frozen):
    """CPU and memory of a process tree at one moment."""

    at_s: float
    """When, in seconds since the measurement began."""
    cpu_cores: float
    """CPU time since the previous sample, in cores' worth."""
    rss_bytes: int
    """Resident memory, summed over processes, in bytes."""
    processes: int
    """Number of processes."""


class Usage(Frozen):
    """What a process tree cost over the measured period."""

    cpu_s: float
    """CPU time of all its processes, ended ones included, in seconds."""
    cpu_cores_mean: float
    """Mean CPU use, in cores' worth."""
    cpu_cores_peak: float
    """Highest CPU use of a sample, in cores' worth."""
    rss_bytes_peak: int
    """Peak resident memory, summed over processes, in bytes: pages that they share count once for each."""
    pss_bytes_peak: int | None = None
    """Peak memory with shared pages split among the processes, in bytes. Null: the kernel does not report it."""
    rss_bytes_mean: float | None = None
    """Mean resident memory, summed over processes, in bytes. Null: stored by an earlier version."""
    pss_bytes_mean: float | None = None
    """Mean memory with shared pages split among the processes, in bytes, counted about once a second. Null: the kernel does not report
    it."""
    processes_peak: int
    """Highest number of processes."""
    cpu_wait_cores_mean: float | None = None
    """Time in which its threads were ready to run and had no CPU, in cores' worth. Null: not watched, or the kernel does not report it."""
    threads: int | None = None
    """Threads that were seen. Null: not watched, or the kernel does not report them."""
    thread_cores_max: float | None = None
    """Mean CPU use of the thread that used most, in cores' worth. Null: not watched, or the kernel does not report it."""
    throttled_share: float | None = None
    """Share of the periods of a CPU quota in which its control groups were throttled, 0 to 1. Null: no quota, or not watched."""
    throttled_s: float | None = None
    """How long a CPU quota stopped its processes, in seconds, summed over CPUs. Null: no quota, or not in a container."""
    group_bytes_peak: int | None = None
    """Most memory that the container's control group has used since it started, page cache included, in bytes. Null: not in a
    container, or the kernel does not report it."""
    oom_kills: int | None = None
    """Processes of the container that the kernel killed because memory ran out. Null: not in a container, or the kernel does not
    report it."""
    samples: tuple[Sample, ...] = ()
    """CPU and memory over time."""
    throttled_samples_s: tuple[float, ...] = ()
    """For each sample, how long a CPU quota stopped its processes since the previous one, in seconds, summed over CPUs. Empty: no quota,
    or not in a container."""


class CoreOccupancy(Frozen):
    """One logical CPU over the measured period, as shares of that period."""

    cpu: int
    """Number of the logical CPU."""
    busy: float
    """Time of all processes, ours or not, without interrupts: a share, 0 to 1."""
    interrupts: float = 0.0
    """Time in interrupts, hard and soft (network work of the kernel): a share, 0 to 1; 0 in stores that do not have it."""
    stolen: float
    """Time that the hypervisor gave to others although there was work: a share, 0 to 1."""


class Network(Frozen):
    """What the kernel's network stack counted over the measured period, for all programs on this machine."""

    segments_sent: int | None = None
    """TCP segments sent. Null: not reported."""
    segments_retransmitted: int | None = None
    """TCP segments sent again: lost, dropped, or acknowledged too late, as when a busy receiver shares the sender's core. Null:
    not reported."""
    retransmission_timeouts: int | None = None
    """Times that a connection stood still until TCP's timer ended; only these delay one for long. Null: not reported."""
    listen_overflows: int | None = None
    """Connections that a full accept queue turned away. Null: not reported."""
    listen_drops: int | None = None
    """Connections turned away during set-up for any reason, overflows included. Null: not reported."""
    backlog_drops: int | None = None
    """Packets that a CPU dropped because it did not keep up with the network. Null: not reported."""


class LoadHostUse(Frozen):
    """What was seen of a load host over the measured period. CPU and memory of the load generator itself are ``generator_usage``."""

    name: str
    """The load host, as ssh knows it."""
    cores: int
    """Physical cores that the load generator could use."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Use of the logical CPUs that the load generator could use, by all programs."""
    network: Network | None = None
    """Counters of the load host's network stack. Null: not read."""
    backend_cores: int = 0
    """Physical cores of the backend of proxies there, which the load generator does not use. 0: it runs on the target's machine."""


class SampledResponse(Frozen):
    """One response of a target."""

    status: int
    """Status code."""
    headers: tuple[tuple[str, str], ...]
    """Header fields in order, as name and value."""
    body: str
    """The body, as text; its first 2,000 characters if stored."""
    body_sha256: str | None = None
    """SHA-256 of the whole body. Null: stored by an earlier version."""
    size_bytes: int
    """Header block and body, in bytes."""


class SampledRequest(Frozen):
    """The head of one request of a client, as it came."""

    text: str
    """The head of the request, as it came."""


class VerdictKind(StrEnum):
    TARGET = "target"
    GENERATOR = "generator"
    BOTH = "both"  # target and generator were nearly full, so neither is the limit for certain
    SHARED = "shared"  # the cores that target and generator share were full
    BACKEND = "backend"  # the server behind a proxy
    DATABASE = "database"  # that the target asks
    NETWORK = "network"
    IDLE = "idle"
    UNKNOWN = "unknown"  # counts, but its limit is unknown
    DISTURBED = "disturbed"  # others used the measured cores; repeated, and its figures do not count unless accepted
    INVALID = "invalid"  # measured, but its figures do not count
    FAILED = "failed"  # not measured


class Verdict(Frozen):
    """What limited a trial; or why its figures do not count."""

    kind: VerdictKind
    """What limited the trial, or that it has no figures."""
    reasons: tuple[str, ...] = ()
    """Why, in words; may be empty."""
    is_accepted: bool = False
    """Whether the trial counts although it was disturbed, because repeats were turned off."""

    @property
    def counts(self) -> bool:
        """Whether the trial has a headline number."""
        if self.kind is VerdictKind.DISTURBED:
            return self.is_accepted
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)


class Settling(Frozen):
    """The part of a warm-up that lasts until throughput is steady."""

    window_s: float
    """Length of each window, in seconds."""
    throughput_rps: tuple[float, ...]
    """Throughput of each window, in requests/s."""
    is_steady: bool
    """Whether throughput was shown to be steady; otherwise the time for it was over."""

    @property
    def duration_s(self) -> float:
        return self.window_s * len(self.throughput_rps)


class Learned(Frozen):
    """The correct response that a trial learned from the first three: each response under load must match it."""

    status: int
    """Status code."""
    content_type: str | None = None
    """Media type, without its parameters. Null: none was sent."""
    body_bytes: int | None = None
    """Size of the body, in bytes. Null: the bodies differed, so bodies are not checked."""
    body_sha256: str | None = None
    """SHA-256 of the body. Null: the bodies differed, so bodies are not checked."""


class DatabaseRun(Frozen):
    """A database as it ran in one trial, and what it counted itself from the start of the target to its end."""

    system: Database
    """Database system."""
    version: str
    """Version of the server."""
    rows_read: int | None = None
    """Rows that it found by their key. Null: not counted."""
    rows_scanned: int | None = None
    """Rows that it read in scans of tables. Null: not counted."""
    rows_written: int | None = None
    """Rows that it changed in its tables. Null: not counted."""


class Commands(Frozen):
    """The command lines of a trial, with all that was filled in: ports, workers, files. Those of ``--env`` and of secret headers are
    redacted."""

    target: tuple[str, ...] = ()
    """Of the target: of a container, that which starts it. Empty: the harness did not start it."""
    copies: int = 1
    """Number of processes that this command started: several with the scaling ``prefork``."""
    load: tuple[str, ...] = ()
    """Of the load generator; for clients of the timer. Files that it names were temporary."""


class Trial(Frozen):
    """A finished trial, as it is stored."""

    plan: TrialPlan
    """What was planned."""
    started_at: str
    """Start: UTC, ISO 8601."""
    verdict: Verdict
    """What limited the trial, or why it does not count."""
    measurement: Measurement | None = None
    """What the load generator measured. Null: nothing, or the target is a client."""
    client: ClientMeasurement | None = None
    """What the timer measured. Null: nothing, or the target is no client."""
    target_usage: Usage | None = None
    """CPU and memory of the target. Null: not watched."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that ran or were ready to run while it got no requests, the least of several looks; from 0.5 on
    it polls. Null: not watched."""
    generator_usage: Usage | None = None
    """CPU and memory of the load generator. Null: not watched."""
    backend_usage: Usage | None = None
    """CPU and memory of the server behind a proxy. Null: no proxy, or not watched."""
    database_usage: Usage | None = None
    """CPU and memory of the target's database. Null: none, or not watched."""
    database: DatabaseRun | None = None
    """The database that the target asked, and what it counted. Null: none."""
    settling: Settling | None = None
    """The part of the warm-up that lasts until throughput is steady. Null: the warm-up had a fixed length."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Use of the CPUs of target and load generator, and of their SMT siblings."""
    others: Others | None = None
    """What else ran on the machine. Null: not watched."""
    network: Network | None = None
    """Counters of the kernel's network stack. Null: not read."""
    response: SampledResponse | None = None
    """A response of the target. Null: none was kept."""
    learned: Learned | None = None
    """The correct response, learned from the target. Null: the workload states it."""
    accept_queue: int | None = None
    """Connections that the target's listening socket queues until they are accepted. Null: unknown."""
    probed: Probed | None = None
    """What a probe found; only in the first trial of each target that got as far."""
    overhead_s: float | None = None
    """Wall time beyond warm-up and measurement, builds aside, in seconds. Null: unknown."""
    log_tail: str | None = None
    """Last lines of the output of the program that failed. Null: none."""
    container: ContainerRun | None = None
    """The container that the target ran in. Null: it ran as a process, or its container did not start."""
    load_host: LoadHostUse | None = None
    """What was seen of the load host. Null: the load generator ran on this machine, or nothing was measured."""
    commands: Commands | None = None
    """The command lines that made the trial. Null: it failed before they ran, or an earlier version stored it."""


class Environment(Frozen):
    """What must match before two runs are compared."""

    hostname: str
    """Name of the machine."""
    cpu_model: str
    """Model of the CPU."""
    cpus_online: int
    """Number of logical CPUs that are online."""
    cpus_allowed: tuple[int, ...]
    """Logical CPUs that httpbench may use."""
    smt: bool | None
    """Whether simultaneous multithreading is active. Null: unknown."""
    governor: str | None
    """Frequency governor, joined by commas if CPUs differ. Null: there is none."""
    turbo: bool | None
    """Whether cores may exceed their nominal frequency. Null: the kernel does not control it."""
    mitigations: dict[str, str]
    """State of each known weakness of the CPU, by its name in ``/sys``."""
    memory_bytes: int
    """Physical memory, in bytes."""
    kernel: str
    """Release of the kernel."""
    os: str
    """Name and version of the operating system."""
    virtualization: str | None
    """Name of the hypervisor. Null: bare metal."""
    load_average_1m: float
    """Load average of the last minute, when the run began."""
    open_files_limit: int
    """Number of files that a process may open."""
    cgroup_version: int | None
    """Version of control groups, 1 or 2. Null: none."""
    cpu_quota_cores: float | None = None
    """CPU time that the control groups allow, in cores' worth. Null: no limit."""
    memory_limit_bytes: int | None = None
    """Memory that the control groups allow, in bytes. Null: no limit."""
    container: str | None = None
    """Container engine that httpbench runs under. Null: none."""
    git_commit: str | None
    """Commit of the folder that the targets come from; ends with ``+changes`` if it was modified. Null: no repository."""
    httpbench_version: str
    """Version of httpbench."""
    versions: dict[str, str]
    """Version of each toolchain and library that the run used, by name."""
    tuning: dict[str, str] = {}
    """Value of each knob of ``httpbench tune``, by name; those that the machine lacks are left out."""


class RoundTrips(Frozen):
    """Round trips of one byte over TCP from a load host to this machine, before the run, in µs."""

    count: int
    """Number of round trips."""
    min_us: float
    """Minimum, in µs."""
    p50_us: float
    """p50, in µs."""
    max_us: float
    """Maximum, in µs."""

    @property
    def jitter_us(self) -> float:
        """How much slower than the fastest half of them were, at least."""
        return self.p50_us - self.min_us


class LoadHost(Frozen):
    """The machine that runs the load generators of a run, if it is not this one."""

    name: str
    """As ssh knows it, such as ``user@host``."""
    address: str
    """Address of this machine at which the load host reaches targets. They listen on no other."""
    cpus: tuple[int, ...]
    """Logical CPUs that load generators may use there."""
    cores: int
    """Physical cores of these CPUs."""
    backend_cpus: tuple[int, ...] = ()
    """Logical CPUs of the backend of proxies there. Empty: it runs on the target's machine."""
    round_trips: RoundTrips
    """Round trips before the run."""
    environment: Environment
    """The load host and its state. It has no commit, and its versions are those of load generators."""


class Precision(Frozen):
    """Rounds until the intervals are narrow enough; the plan then holds the highest number of rounds."""

    rounds_min: int = Field(ge=1)
    """Lowest number of rounds."""
    rounds_max: int = Field(ge=1)
    """Highest number of rounds."""
    half_width: float = Field(gt=0)
    """Half the width of an interval at which rounds end, relative: 0.02 is ± 2%."""


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # after the first round, which was invalid for one reason


class Run(Frozen):
    """One invocation of ``bench`` or ``run``."""

    id: str
    """Id of the run."""
    started_at: str
    """Start: UTC, ISO 8601."""
    finished_at: str | None
    """End: UTC, ISO 8601. Null: not finished."""
    status: RunStatus
    """Whether the run is finished."""
    command: tuple[str, ...]
    """The command line."""
    environment: Environment
    """The machine and its state."""
    plan: tuple[TrialPlan, ...]
    """All trials in their order, without repeats."""
    targets: dict[str, Target]
    """Targets by id."""
    workloads: dict[str, Workload]
    """Workloads by name."""
    table: Table = Table.HTTP_SERVERS
    """Columns of its tables."""
    baseline: str | None = None
    """Id of the target that the others are compared with. Null: none."""
    precision: Precision | None = None
    """Rounds until intervals are narrow enough. Null: a fixed number."""
    retries: int = Field(default=0, ge=0)
    """How often a disturbed trial is repeated at most."""
    scale: float = Field(default=1.0, gt=0)
    """Factor on the suite's rates and times; every table shows it."""
    measures_noise: bool = False
    """Whether its rounds are A/A pairs: one server against itself."""
    noise: Noise | None = None
    """The known noise of this machine when the run began. Null: unknown, or no longer valid."""
    search: Search | None = None
    """Search for the highest rate; ``plan`` then holds only the first trial. Null: no search."""
    gates: tuple[Gate, ...] = ()
    """Gates of its targets against the baseline."""
    name: str | None = None
    """Name of the run, for ``report`` and ``compare``. Null: none."""
    tags: tuple[str, ...] = ()
    """Words that the user gave it, by which ``serve`` finds it."""
    load_host: LoadHost | None = None
    """The machine that ran the load generators. Null: this one."""
    published: str | None = None
    """Project that published the figures, such as ``techempower``; most of the environment is then unknown. Null: httpbench measured
    them."""
