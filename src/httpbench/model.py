"""The nouns of httpbench, as frozen models.

Whatever is read from TOML, planned, measured, stored or exported is one of these. They know nothing of files, processes or
terminals. Units stand last in names; every latency is in microseconds; a figure that was not measured is ``None``, never zero.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_.+-]*$")]
"""A part of an id: lower case, no slash, so that ids can be told apart from options and paths."""

Argv = Annotated[tuple[str, ...], Field(min_length=1)]

PLACEHOLDERS = ("host", "port", "workers", "scratch", "backend_host", "backend_port", "url", "requests")
"""What the harness fills in, in a target's command line and environment, where it stands in braces."""


class Frozen(BaseModel):
    """A value: cannot change, compares by content, and refuses keys that it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")


# --- what is measured ---------------------------------------------------------------------------------------------------------


class Kind(StrEnum):
    SERVER = "server"
    CLIENT = "client"
    PROXY = "proxy"


class Category(StrEnum):
    MICRO = "micro"  # an event loop that answers: no parser, no router
    PLATFORM = "platform"  # parser, router, response writer
    FULLSTACK = "fullstack"


class Tuning(StrEnum):
    DEFAULT = "default"  # as the documentation shows it
    TUNED = "tuned"  # the documented production settings
    ENGINE = "engine"  # below the framework's public surface


class Scaling(StrEnum):
    SINGLE = "single"  # one thread of work
    MULTI = "multi"  # fills the cores that it is given
    PREFORK = "prefork"  # one copy per core, started by the harness, on one port with SO_REUSEPORT


class Limit(StrEnum):
    """What a target cannot do by design. Declared in its manifest, checked to be so, and shown beside its figures."""

    NO_ROUTER = "no-router"  # answers every path alike
    NO_METHOD = "no-method"  # answers every method alike, HEAD included
    NO_CLOSE = "no-close"  # ignores `Connection: close`
    NO_PIPELINING = "no-pipelining"  # answers only one of several requests that arrive together
    NO_SPLIT = "no-split"  # needs a whole request in one read
    NO_KEEPALIVE = "no-keepalive"  # a client that connects anew for each request
    NO_HALF_CLOSE = "no-half-close"  # a proxy that closes both directions as soon as one has ended


class Requirement(Frozen):
    """A program or a file that a target needs on the machine, and how to get it."""

    program: str | None = None
    """Looked up in PATH."""
    file: str | None = Field(default=None, pattern=r"^/")
    """An absolute path, for headers and libraries; may hold glob characters."""
    version: str | None = Field(default=None, pattern=r"^[0-9]+(\.[0-9]+)*$")
    """The oldest version that will do, as numbers joined by dots."""
    version_command: Argv | None = None
    """Prints the version; ``PROGRAM --version`` unless said. The first dotted number in its output counts."""
    apt: tuple[str, ...] = ()
    """Debian packages that bring it."""
    install: str | None = None
    """The language's own way to get it, for systems where Debian's is missing or too old. One command or address."""

    @model_validator(mode="after")
    def _names_one_thing(self) -> Requirement:
        if (self.program is None) == (self.file is None):
            raise ValueError("give either program or file")
        if self.version and not self.program:
            raise ValueError("version needs program")
        if not self.apt and not self.install:
            raise ValueError("give apt or install, so that a user knows how to get it")
        return self

    @property
    def label(self) -> str:
        """What is needed, in words: ``ldc2 ≥ 1.30``."""
        thing = self.program or self.file or ""
        return f"{thing} ≥ {self.version}" if self.version else thing


class Build(Frozen):
    """How to build a target: commands run in a copy of its folder."""

    commands: tuple[Argv, ...] = ()
    env: dict[str, str] = {}
    artifacts: tuple[Annotated[str, StringConstraints(pattern=r"^[^/]")], ...] = ()
    """Files that must be there afterwards, relative to the build folder."""
    timeout_s: float = Field(default=1800, gt=0)


class Variant(Frozen):
    """One row of a target: how it is launched."""

    name: Name | None = None
    """Last part of the id; left out where a target has one row."""
    run: Argv
    """Placeholders: ``{host} {port} {workers} {scratch}``; proxies also ``{backend_host} {backend_port}``;
    clients ``{url} {requests}``. ``{scratch}`` is an empty folder that lasts as long as the trial."""
    env: dict[str, str] = {}
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    build: Build | None = None
    """Replaces the target's build where a row is built differently."""
    limits: tuple[Limit, ...] | None = None
    """Replaces the target's limits."""
    tuning: Tuning | None = None
    notes: str | None = None

    @model_validator(mode="after")
    def _placeholders_are_known(self) -> Variant:
        for text in (*self.run, *self.env.values()):
            for name in re.findall(r"\{([a-z_]+)\}", text):
                if name not in PLACEHOLDERS:
                    raise ValueError(f"run: unknown placeholder {{{name}}}; there are: {', '.join(PLACEHOLDERS)}")
        return self

    @model_validator(mode="after")
    def _one_way_to_fill_cores(self) -> Variant:
        if not self.scaling:
            raise ValueError("scaling: name at least one of single, multi, prefork")
        if Scaling.MULTI in self.scaling and Scaling.PREFORK in self.scaling:
            raise ValueError("scaling: multi and prefork are two ways to fill the cores: choose one")
        return self


class TargetFile(Frozen):
    """A ``target.toml``: one framework, with one ``[[variant]]`` per row."""

    kind: Kind
    language: Name
    framework: Name
    category: Category
    tuning: Tuning = Tuning.DEFAULT
    upstream: str = Field(pattern=r"^https://")
    notes: str | None = None
    limits: tuple[Limit, ...] = ()
    requires: tuple[Requirement, ...] = ()
    build: Build = Build()
    version: Argv | None = None
    """Prints the version of the library that the target stands for, from within the build folder: the receipt of the build."""
    variant: Annotated[tuple[Variant, ...], Field(min_length=1)]

    @model_validator(mode="after")
    def _rows_differ(self) -> TargetFile:
        names = [variant.name for variant in self.variant]
        if len(set(names)) != len(names):
            raise ValueError("variant: two variants have the same name")
        if len(names) > 1 and None in names:
            raise ValueError("variant: each of several variants needs a name")
        return self


class Target(Frozen):
    """A program that is measured: one row of a table. Most come from a manifest; those of ``run`` from the command line."""

    id: str
    kind: Kind
    language: Name
    framework: Name
    variant: Name | None = None
    category: Category | None
    """``None``: from the command line, so nobody declared one, and nothing is built."""
    tuning: Tuning
    upstream: str | None
    notes: str | None = None
    limits: tuple[Limit, ...] = ()
    requires: tuple[Requirement, ...] = ()
    build: Build
    version: Argv | None = None
    run: tuple[str, ...]
    """Empty where there is a ``url``."""
    url: str | None = None
    """``http://HOST:PORT`` of a server that runs already: it is neither started nor stopped, and its CPU time is not known."""
    prepare: tuple[str, ...] = ()
    """A command that is run to its end before each trial; empty: none."""
    env: dict[str, str] = {}
    scaling: tuple[Scaling, ...]
    folder: str
    """Absolute path of the folder that holds its ``target.toml`` and sources; or in which a command is run."""

    @property
    def is_declared(self) -> bool:
        """By a manifest, and not on the command line."""
        return self.category is not None


# --- what is asked, and how ---------------------------------------------------------------------------------------------------


class Request(Frozen):
    method: str = Field(default="GET", pattern=r"^[A-Z]+$")
    path: str = Field(default="/", pattern=r"^/[!-~]*$")
    """As it stands in the request: spaces and letters beyond ASCII are percent-encoded."""
    headers: dict[str, str] = {}
    body: str = ""


class Expectation(Frozen):
    """What a right answer is."""

    status: int | None = Field(default=200, ge=100, le=599)
    """``None``: any from 200 to 299, but the same one throughout."""
    body: str | None = None
    """The exact body; ``None`` where any will do."""
    content_type: str | None = None
    """The media type, parameters aside."""
    headers: tuple[str, ...] = ()
    """Names of headers that must be present."""


class Workload(Frozen):
    """What is asked and what a right answer is."""

    name: Name
    description: str
    request: Request = Request()
    expect: Expectation = Expectation()


class Load(Frozen):
    """How it is asked. A closed loop (next request when the answer came) unless ``rate_rps`` is given."""

    connections: int = Field(default=64, ge=1, le=1_000_000)
    threads: int | None = Field(default=None, ge=1, le=1024)
    """Threads of the load generator; ``None``: one for each of its cores."""
    pipeline: int = Field(default=1, ge=1, le=1024)
    keepalive: bool = True
    duration_s: float = Field(default=10, gt=0, le=86_400)
    warmup_s: float = Field(default=2, ge=0, le=3600)
    timeout_s: float = Field(default=2, gt=0, le=3600)
    rate_rps: float | None = Field(default=None, gt=0)


class Table(StrEnum):
    """Which columns a run's tables have; its suite chooses."""

    HTTP_SERVERS = "http-servers"  # throughput and the whole range of latencies
    APP_SERVERS = "app-servers"  # throughput against what it costs in memory and CPU
    COMMANDS = "commands"  # rows that come from the command line: no language, no category


class SuiteLoad(Frozen):
    """One load of a suite; what is left out is the default, and ``connections`` may be several."""

    connections: tuple[int, ...] = (64,)
    threads: int | None = None
    pipeline: int = 1
    keepalive: bool = True
    duration_s: float = 10
    warmup_s: float = 2
    timeout_s: float = 2
    rate_rps: float | None = None


class Suite(Frozen):
    """Which targets × workloads × loads, how many rounds."""

    name: Name
    description: str
    kind: Kind = Kind.SERVER
    targets: Annotated[tuple[str, ...], Field(min_length=1)]
    """Ids, or parts of ids, as on the command line."""
    workloads: Annotated[tuple[Name, ...], Field(min_length=1)]
    scaling: tuple[Scaling, ...] = (Scaling.SINGLE,)
    load_generator: Name = "native"
    rounds: int = Field(default=3, ge=1, le=1000)
    table: Table = Table.HTTP_SERVERS
    load: Annotated[tuple[SuiteLoad, ...], Field(min_length=1)]


class Cores(Frozen):
    """Who runs where: logical CPUs of this machine."""

    target: tuple[int, ...]
    generator: tuple[int, ...]
    harness: tuple[int, ...]
    shared: bool
    """The target and the generator have a core in common; every table says so."""


class TrialPlan(Frozen):
    """One target, to be started, warmed up, measured and stopped once under one workload and load."""

    number: int
    """Place in the run, from 0."""
    round: int
    """From 0."""
    target: str
    scaling: Scaling
    workload: Name
    load: Load
    load_generator: Name
    cores: Cores

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """What its rounds have in common."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)


# --- what was measured --------------------------------------------------------------------------------------------------------


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
    p99_us: float | None = None


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
    connect_time_us: Distribution | None = None
    intervals: tuple[Interval, ...] = ()
    notes: tuple[str, ...] = ()
    """What this generator's figures leave out."""

    @property
    def errors_total(self) -> int:
        return sum(self.errors.values())


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
    samples: tuple[Sample, ...] = ()


class CoreOccupancy(Frozen):
    """One logical CPU over the measured period, as shares of that period."""

    cpu: int
    busy: float
    """Time of any process, ours or not; interrupts aside."""
    stolen: float
    """Time that the hypervisor gave to others although there was work."""


class SampledResponse(Frozen):
    """One answer of a target, byte for byte."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: str
    size_bytes: int
    """Header block and body."""


class VerdictKind(StrEnum):
    TARGET = "target"
    GENERATOR = "generator"
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


class Trial(Frozen):
    """A finished trial, as it is stored."""

    plan: TrialPlan
    started_at: str
    """UTC, ISO 8601."""
    verdict: Verdict
    measurement: Measurement | None = None
    target_usage: Usage | None = None
    generator_usage: Usage | None = None
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Of the cores of target and generator."""
    response: SampledResponse | None = None
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
