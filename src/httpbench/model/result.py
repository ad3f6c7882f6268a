"""What was measured, and where: measurements, verdicts, trials and runs."""

from __future__ import annotations

from enum import StrEnum

from pydantic import Field

from httpbench.model.frozen import Frozen, Name
from httpbench.model.load import Table, TrialPlan, Workload
from httpbench.model.noise import Noise
from httpbench.model.probe import Probed
from httpbench.model.search import Search
from httpbench.model.target import Target


class Distribution(Frozen):
    """A distribution of times in µs. Percentiles with fewer than ten samples beyond them are ``None``."""

    count: int
    min: float | None = None
    mean: float | None = None
    stddev: float | None = None
    max: float | None = None
    tm99_9: float | None = None
    """Mean without the lowest and the highest 0.1 % of samples."""
    p25: float | None = None
    p50: float | None = None
    p75: float | None = None
    p90: float | None = None
    p95: float | None = None
    p99: float | None = None
    p99_9: float | None = None
    p99_99: float | None = None
    histogram: str | None = None
    """HdrHistogram V2, compressed, base64; values in nanoseconds."""


class Requests(Frozen):
    sent: int | None = None
    completed: int
    ok: int
    """Answers with the expected status and, where it was checked, the expected body."""
    unsent: int = 0


class Interval(Frozen):
    """A slice of the measurement."""

    start_s: float
    duration_s: float
    completed: int
    errors: int = 0
    offered_rps: float | None = None
    p50_us: float | None = None
    p90_us: float | None = None
    """Only with a schedule of rates."""
    p99_us: float | None = None


class Step(Frozen):
    """The part of a measurement in which one rate was offered."""

    rate_rps: float
    start_s: float
    duration_s: float
    completed: int
    errors: int
    response_time_us: Distribution

    @property
    def achieved_share(self) -> float:
        """Completed / offered."""
        return self.completed / (self.rate_rps * self.duration_s)


class Measurement(Frozen):
    """What a load generator said of one measured period."""

    generator: Name
    generator_version: str
    duration_s: float
    requests: Requests
    errors: dict[str, int] = {}
    """Count per kind of error; a kind that did not happen may be left out."""
    bytes_received: int | None = None
    throughput_rps: float
    """Right answers per second."""
    service_time_us: Distribution | None = None
    response_time_us: Distribution | None = None
    """Only in an open loop."""
    schedule_lag_us: Distribution | None = None
    """Actual − intended sending, only in an open loop: a late timer of the generator's, or no connection that was free."""
    connect_time_us: Distribution | None = None
    intervals: tuple[Interval, ...] = ()
    steps: tuple[Step, ...] = ()
    """One for each rate of the load, where it has several."""
    busy_cores: float | None = None
    """Cores' worth of time in which the generator had something to do, polling aside; ``None``: it does not tell."""
    means_every_request: bool = False
    """The mean service time is over every request, from send to complete answer, on connections that carried load all the time; so
    Little's law must hold for it in a closed loop."""
    notes: tuple[str, ...] = ()
    """What this generator's figures leave out."""

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
    user_s: float
    system_s: float
    rss_bytes_peak: int | None = None
    """``None``: not told, or not more than what a process has before it becomes the program."""

    @property
    def cpu_s(self) -> float:
        return self.user_s + self.system_s


class WorkDone(Frozen):
    """What the reference server saw of a client: the proof that it did the same work as the others."""

    requests: int
    connections: int
    in_flight_max: int
    """The most requests that waited for their answer at the same moment."""
    pipelined: int
    """Requests that came before the answer to the one before them on their connection was sent."""
    wrong_requests: int
    """Of another method or path, or not HTTP at all."""
    body_bytes_sent: int
    bytes_sent: int
    """Heads and bodies."""
    first_request: str = ""
    """The head of the first request, as it came."""


class ClientMeasurement(Frozen):
    """A client that was timed as a whole process."""

    timer: Name
    timer_version: str
    requests: int
    """That it was told to make."""
    whole: Timing
    startup: Timing
    """Of the same program told to make no request."""
    done: WorkDone
    """In the timed run."""
    done_held: WorkDone
    """In a run before it that was not timed, in which each answer was held back, so that who does not wait for it is seen."""

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
    """Since the measurement began."""
    cpu_cores: float
    """Cores' worth of CPU time since the sample before."""
    rss_bytes: int
    processes: int


class Usage(Frozen):
    """What a process tree cost over the measured period."""

    cpu_s: float
    """User and system time of all its processes, ended ones included."""
    cpu_cores_mean: float
    cpu_cores_peak: float
    rss_bytes_peak: int
    """Sum over processes: pages that they share count once for each."""
    pss_bytes_peak: int | None = None
    """Sum over processes with shared pages split among them; ``None`` where the kernel does not tell."""
    processes_peak: int
    cpu_wait_cores_mean: float | None = None
    """Cores' worth of time that its threads were ready to run and had no CPU; ``None``: not watched, or the kernel does not tell."""
    samples: tuple[Sample, ...] = ()


class CoreOccupancy(Frozen):
    """One logical CPU over the measured period, as shares of that period."""

    cpu: int
    busy: float
    """Time of any process, ours or not; interrupts aside."""
    stolen: float
    """Time that the hypervisor gave to others although there was work."""


class Network(Frozen):
    """What the kernel's network stack counted over the measured period, of all programs on this machine. ``None``: it does not tell."""

    segments_sent: int | None = None
    segments_retransmitted: int | None = None
    """TCP segments that were sent again: lost, dropped, or acknowledged too late, as where a busy receiver shares the sender's core."""
    retransmission_timeouts: int | None = None
    """Times that a connection stood still until TCP's timer ended: only these hold one up for long."""
    listen_overflows: int | None = None
    """Connections that a full accept queue turned away."""
    listen_drops: int | None = None
    """Connections that were turned away while they were set up, for whatever reason; overflows are among them."""
    backlog_drops: int | None = None
    """Packets that a CPU dropped because it did not keep up with the network."""


class SampledResponse(Frozen):
    """One answer of a target, byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    """Of a stored one the first 2,000 characters."""
    body_sha256: str | None = None
    """Of the whole body; ``None``: stored by an earlier version."""
    size_bytes: int
    """Header block and body."""


class SampledRequest(Frozen):
    """The head of one request of a client, as it came."""

    text: str


class VerdictKind(StrEnum):
    TARGET = "target"
    GENERATOR = "generator"
    BACKEND = "backend"  # the server behind a proxy
    NETWORK = "network"
    IDLE = "idle"
    UNKNOWN = "unknown"  # counts, but what limited it could not be seen
    INVALID = "invalid"  # measured, and not to be believed
    FAILED = "failed"  # not measured


class Verdict(Frozen):
    """What limited a trial; or why its figures do not count."""

    kind: VerdictKind
    reasons: tuple[str, ...] = ()

    @property
    def counts(self) -> bool:
        """Whether the trial has a headline number."""
        return self.kind not in (VerdictKind.INVALID, VerdictKind.FAILED)


class Settling(Frozen):
    """The part of a warm-up that lasts until throughput is steady."""

    window_s: float
    throughput_rps: tuple[float, ...]
    """Of each window, right answers per second."""
    is_steady: bool
    """Whether it was in the end; otherwise the time for it was over."""

    @property
    def duration_s(self) -> float:
        return self.window_s * len(self.throughput_rps)


class Trial(Frozen):
    """A finished trial, as it is stored."""

    plan: TrialPlan
    started_at: str
    """UTC, ISO 8601."""
    verdict: Verdict
    measurement: Measurement | None = None
    client: ClientMeasurement | None = None
    """In place of a measurement, where the target is a client."""
    target_usage: Usage | None = None
    generator_usage: Usage | None = None
    backend_usage: Usage | None = None
    """Of the server behind a proxy."""
    settling: Settling | None = None
    """``None``: the warm-up had a fixed length."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Of the cores of target and generator."""
    network: Network | None = None
    response: SampledResponse | None = None
    probed: Probed | None = None
    """Of the first trial of each target that got as far."""
    overhead_s: float | None = None
    """Wall time beyond warm-up and measurement, builds aside."""
    log_tail: str | None = None


class Environment(Frozen):
    """What must match before two runs are compared."""

    hostname: str
    cpu_model: str
    cpus_online: int
    cpus_allowed: tuple[int, ...]
    smt: bool | None
    governor: str | None
    turbo: bool | None
    mitigations: dict[str, str]
    memory_bytes: int
    kernel: str
    os: str
    virtualization: str | None
    load_average_1m: float
    open_files_limit: int
    cgroup_version: int | None
    cpu_quota_cores: float | None = None
    """Cores' worth of processor time that our control groups allow; ``None``: no limit."""
    memory_limit_bytes: int | None = None
    """What our control groups allow; ``None``: no limit."""
    container: str | None = None
    """The container engine that we run under."""
    git_commit: str | None
    """Of the folder that the targets come from; ends with ``+changes`` where it differs from the commit."""
    httpbench_version: str
    versions: dict[str, str]
    """Of toolchains and libraries that the run used."""
    tuning: dict[str, str] = {}
    """What the knobs of ``httpbench tune`` stood at, by name; those that the machine does not have are left out."""


class Precision(Frozen):
    """Rounds until the intervals are narrow enough; the plan then holds the most that would be made."""

    rounds_min: int = Field(ge=1)
    rounds_max: int = Field(ge=1)
    half_width: float = Field(gt=0)
    """Relative: 0.02 is «± 2 %»."""


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


class Run(Frozen):
    """One invocation of ``bench`` or ``run``."""

    id: str
    started_at: str
    finished_at: str | None
    status: RunStatus
    command: tuple[str, ...]
    environment: Environment
    plan: tuple[TrialPlan, ...]
    targets: dict[str, Target]
    workloads: dict[str, Workload]
    table: Table = Table.HTTP_SERVERS
    baseline: str | None = None
    """Id of the target with which the others are compared in words."""
    precision: Precision | None = None
    scale: float = Field(default=1.0, gt=0)
    """The rates and times of the suite were multiplied by this; every table says so."""
    measures_noise: bool = False
    """Its rounds are A/A pairs: one server, twice."""
    noise: Noise | None = None
    """What was known of this machine's noise when the run began; ``None``: nothing that still holds."""
    search: Search | None = None
    """Where each trial was chosen by those before it; the plan then holds the first alone."""
    name: str | None = None
    """By which it can be asked for, beside its id. The newest of that name is meant."""
