"""A whole run as one JSON document in the schema ``httpbench/1``, for programs and for readers who check the arithmetic.

The models below are the schema; ``docs/schemas`` contains it as JSON Schema. Fields may be added within a version of the schema. If a
field is removed or changes its meaning, the version changes.

The document includes the measurements of trials that don't count, so programs must check the verdict first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

from httpbench.analysis.compared import against, composite_of, differences, ranking
from httpbench.analysis.gates import RunGate, gated
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import grown_in
from httpbench.analysis.rows import Group
from httpbench.model import (
    Category,
    ClientMeasurement,
    Commands,
    ContainerRun,
    CoreOccupancy,
    Cores,
    Criteria,
    Database,
    DatabaseRun,
    Entry,
    Environment,
    Failover,
    Frozen,
    Gate,
    Id,
    Isolation,
    Kind,
    Learned,
    LearnedRequests,
    Limit,
    Load,
    LoadHost,
    LoadHostUse,
    Measurement,
    Network,
    Noise,
    Others,
    Precision,
    Probed,
    Profile,
    ProxyMode,
    Reason,
    Run,
    RunStatus,
    SampledResponse,
    Scaling,
    Search,
    Settling,
    Startup,
    Table,
    Trial,
    TrialPlan,
    Tuning,
    Usage,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.model.verdict import REASONS_MAX
from httpbench.report.data.profiles import ProfileChanges, profile_changes
from httpbench.report.words.gates import gate_causes, gate_place, gate_reason
from httpbench.report.words.reasons import joined, sentence, sentences
from httpbench.stats.composite import Composite
from httpbench.stats.facts import Facts, facts
from httpbench.stats.gates import Passage
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.level import RatePoint, Saturation, saturation
from httpbench.stats.overhead import Difference
from httpbench.stats.paired import Comparison
from httpbench.stats.steady import not_shown_steady, unsteady
from httpbench.stats.summary import Summary, with_merged


class _Exported(Frozen, defer_build=False):
    """A model that is built at once: pydantic can't build these from the outermost, because ``InWords`` becomes another model."""


class ExportedVerdict(_Exported):
    """The verdict on a trial: what limited it, or why it doesn't count."""

    kind: VerdictKind
    """Kind of verdict: what limited the trial, or why it doesn't count."""
    reasons: tuple[str, ...] = ()
    """Reasons as sentences. The list can be empty."""
    is_accepted: bool = False
    """Whether the trial counts even though it was disturbed, because repeats were turned off."""
    causes: tuple[Reason, ...] = Field(default=(), max_length=REASONS_MAX)
    """Reasons as data: the kind of each reason, and the numbers and names in its sentence."""


def _exported_verdict(verdict: Verdict) -> ExportedVerdict:
    return ExportedVerdict(kind=verdict.kind, reasons=tuple(sentences(verdict)), is_accepted=verdict.is_accepted, causes=verdict.reasons)


InWords = Annotated[Verdict, PlainSerializer(_exported_verdict, return_type=ExportedVerdict)]
"""A verdict whose reasons are exported both as sentences and as data."""


class ExportedPoint(RatePoint, defer_build=False):
    """Results at one rate, over the trials that count."""

    misses: Annotated[tuple[Reason, ...], PlainSerializer(lambda found: tuple(map(sentence, found)), return_type=tuple[str, ...])]
    """Reasons why the service level was not met, without duplicates."""


class ExportedSaturation(Saturation):
    """The result of a search."""

    curve: tuple[ExportedPoint, ...]
    """All rates, in ascending order."""
    disturbed_by: Annotated[
        tuple[tuple[Reason, ...], ...],
        BeforeValidator(lambda found: [[each] if isinstance(each, str) else each for each in found]),
        PlainSerializer(lambda found: tuple(map(joined, found)), return_type=tuple[str, ...]),
    ] = ()
    """For each disturbed trial, the programs that disturbed it, as text."""


class ExportedSummary(Summary, defer_build=False):
    """Results of one cell over its rounds. A field is null if it was not measured or if no round counts."""

    verdict: InWords
    """Most common verdict of the rounds that count. If any of these rounds has the verdict ``generator`` or ``both``, that verdict
    takes precedence. If no round counts: the worst verdict."""


class ExportedTarget(_Exported):
    """A target, without its folder and its build on this machine."""

    id: Id
    """Id: ``language/framework[/variant]``."""
    kind: Kind
    """Kind of target."""
    mode: ProxyMode = ProxyMode.TCP
    """What the target relays, if it is a proxy."""
    language: str
    """Programming language."""
    framework: str
    """Framework or library."""
    variant: str | None
    """Name of the variant. Null: there is only one."""
    category: Category | None
    """Category that the target declares. Null: the target comes from the command line, or its catalog doesn't declare one."""
    tuning: Tuning
    """How the target is written."""
    limits: tuple[Limit, ...]
    """Features that the target lacks by design."""
    upstream: str | None
    """Home page of the framework. Null: the target comes from the command line, or its catalog doesn't have one."""
    notes: str | None
    """Notes for readers of the results. Null: none."""
    run: tuple[str, ...]
    """Command line. Empty if there is a ``url``."""
    url: str | None
    """``http://HOST:PORT`` of a running server, which httpbench neither starts nor stops. Null: httpbench starts the target.

    The CPU time of a server that was already running is unknown.
    """
    prepare: tuple[str, ...]
    """Command that runs before each trial. Empty: none."""
    env: dict[str, str]
    """Environment variables."""
    isolation: Isolation | None = None
    """Container of the target, and its limits. Null: the target runs as a process."""
    paths: dict[str, str] = Field(default_factory=dict)
    """Path of each test, by the test's name. Empty: the target serves every workload at the workload's own path."""
    database: Database | None = None
    """Database that the target uses. Null: none."""
    entry: Entry | None = None
    """Entry in another project's catalog. Null: the target isn't from another project's catalog."""


class Round(_Exported):
    """A trial, without the properties that all rounds of its cell share."""

    number: int
    """Position of the trial in the run, counted from 0."""
    round: int
    """Number of the round, counted from 0."""
    attempt: int = 0
    """Number of the attempt: 0 for the first, and higher if earlier attempts were disturbed."""
    started_at: str
    """Start time (UTC, ISO 8601)."""
    cores: Cores
    """CPUs of each program."""
    workers: int | None = None
    """Number of workers or copies of the target that the user chose. Null: one per physical core of the target."""
    verdict: InWords
    """Verdict on the trial: what limited it, or why it doesn't count."""
    measurement: Measurement | None
    """Measurement of the load generator. Null: nothing was measured, or the target is a client."""
    client: ClientMeasurement | None = None
    """Measurement of the timer. Null: nothing was measured, or the target is not a client."""
    startup: Startup | None = None
    """How the server started. Null: start-up wasn't measured."""
    failover: Failover | None = None
    """How the proxy handled the failure of one of its two backends. Null: no backend failed."""
    target_usage: Usage | None
    """CPU and memory of the target. Null: not measured."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that ran or were ready to run while the target got no requests.

    This is the lowest result of several checks. If it is at least 0.5, the target is considered to be polling. Null: not measured.
    """
    generator_usage: Usage | None
    """CPU and memory of the load generator. Null: not measured."""
    backend_requests: int | None = None
    """Requests that the backend of a proxy handled. Null: the backend doesn't count requests, or the target isn't a proxy."""
    backend_connections: int | None = None
    """Connections that the backend of a proxy accepted. Null: the backend doesn't count connections, or the target isn't a proxy."""
    backend_usage: Usage | None = None
    """CPU and memory of the server behind a proxy. Null: the target isn't a proxy, or nothing was measured."""
    database_usage: Usage | None = None
    """CPU and memory of the target's database. Null: the target has no database, or nothing was measured."""
    database: DatabaseRun | None = None
    """Database of the target and its counters. Null: none was recorded."""
    settling: Settling | None = None
    """Part of the warm-up that lasts until throughput is steady. Null: the warm-up had a fixed length."""
    unsteady: str | None = None
    """Reason why the round is not steady or not shown to be steady. Null: no change was found."""
    occupancy: tuple[CoreOccupancy, ...]
    """Use of the CPUs of the target and the load generator, and of the SMT siblings of these CPUs."""
    others: Others | None = None
    """Activity of other programs on the machine. Null: not measured."""
    network: Network | None = None
    """Counters of the kernel's network stack. Null: not read."""
    facts: Facts | None = None
    """Facts behind the verdict. Null: nothing was measured."""
    response: SampledResponse | None
    """Sampled response of the target. Null: none was kept."""
    learned: Learned | None = None
    """Correct response, learned from the target. Null: the workload defines it."""
    learned_requests: LearnedRequests | None = None
    """Correct responses, learned from the target, if the workload has several requests. Null: it has one, or nothing was learned."""
    accept_queue: int | None = None
    """Length of the accept queue of the target's listening socket. Null: unknown."""
    overhead_s: float | None
    """Wall time of the trial in seconds, without builds, warm-up and measurement. Null: unknown."""
    log_tail: str | None
    """Last lines of the failed program's output. Null: no output was stored."""
    container: ContainerRun | None = None
    """Container of the target. Null: the target ran as a process, or its container did not start."""
    load_host: LoadHostUse | None = None
    """Observations of the load host. Null: the load generator ran on the target's machine, or nothing was measured."""
    commands: Commands | None = None
    """Command lines of the trial. Null: the trial failed before they ran, or an earlier version of httpbench stored the trial."""
    slices: int | None = None
    """Number of slices of the trial. The targets of a table take turns, one slice at a time. Null: the trial was one window."""
    slices_dropped: int = 0
    """Number of slices that were dropped and repeated because other programs disturbed them. Earlier versions also dropped the slices of
    other targets."""
    incidents: tuple[Reason, ...] = Field(default=(), max_length=REASONS_MAX)
    """Events that affect the verdict, such as the death of the target. Earlier versions stored none."""
    criteria: Criteria = Criteria()
    """Criteria by which the trial is judged, in addition to its plan."""


class Result(_Exported):
    """A cell: one target under one load, with all its rounds."""

    target: Id
    """Id of the target, which is its key in ``targets``."""
    workload: str
    """Name of the workload, which is its key in ``workloads``."""
    scaling: Scaling
    """How the target used cores."""
    load_generator: str
    """Name of the load generator, or of the timer for clients."""
    load: Load
    """How the requests were sent."""
    verdict: InWords
    """Most common verdict of the rounds that count. A single ``generator`` or ``both`` among these rounds takes precedence. If no round
    counts: the worst verdict."""
    rank: int | None
    """Same as ``rank_best``, under the name that earlier versions used."""
    rank_best: int | None = None
    """Best rank that the rounds allow: 1 + the number of rows that are significantly faster. Null: the row isn't ranked."""
    rank_worst: int | None = None
    """Worst rank that the rounds allow: the number of ranked rows minus the number of rows that are significantly slower. Null: the row
    isn't ranked."""
    summary: ExportedSummary
    """Results over the rounds that count."""
    overhead: dict[str, Difference]
    """Latencies of a proxy minus those of the baseline in the same rounds, in µs, by metric. Empty for other targets."""
    rounds: tuple[Round, ...]
    """All rounds, including those that don't count and disturbed attempts that were repeated."""


class Against(_Exported):
    """One target compared with the baseline of its table by one metric."""

    target: str
    """Id of the target."""
    baseline: str
    """Id of the baseline."""
    workload: str
    """Name of the workload."""
    scaling: Scaling
    """How the target used cores."""
    load_generator: str
    """Name of the load generator."""
    load: Load
    """How the requests were sent."""
    figure: str
    """Metric, such as ``throughput_rps``, ``latency_us_p99`` (response time if the load has a rate) or ``ready_s``."""
    comparison: Comparison
    """Ratio of the target to the baseline."""
    differs: bool
    """Whether the difference is significant: the corrected p-value is at most 0.05."""
    holds: bool = False
    """Whether the difference is significant and can't be due to a result that is only a bound or to stalls that a closed loop hides."""


class GateResult(_Exported):
    """The result of a gate for one target, or for a table without a measured baseline."""

    gate: Gate
    """The gate."""
    target: str | None
    """Id of the target. Null: no target is judged, because the baseline was not measured."""
    place: str
    """Target, baseline, workload and load, as text."""
    passage: Passage
    """Whether the gate passed."""
    ratio: float | None = None
    """The target's value divided by the baseline's. Null: unknown."""
    interval: ConfidenceInterval | None = None
    """95% confidence interval of the ratio. Null: unknown."""
    reason: str | None = None
    """Why the gate could not be judged. Null: it was judged."""
    rounds_enough: int | None = None
    """Number of rounds that would decide an inconclusive gate. Null: the gate isn't inconclusive, or too many rounds would be required."""
    undecidable: str | None = None
    """Why no number of rounds can decide an inconclusive gate. Null: the gate isn't inconclusive, or rounds can decide it."""


class Document(_Exported):
    """A run: where and how it was measured, and its results."""

    schema_: Literal["httpbench/1"] = Field(default="httpbench/1", alias="schema")
    """Name and version of this schema."""
    run: str
    """Id of the run."""
    started_at: str
    """Start time (UTC, ISO 8601)."""
    finished_at: str | None
    """End time (UTC, ISO 8601). Null: not finished."""
    status: RunStatus
    """Whether the run is finished."""
    command: tuple[str, ...]
    """The command line."""
    environment: Environment
    """The machine and its state."""
    targets: dict[str, ExportedTarget]
    """Targets by id."""
    workloads: dict[str, Workload]
    """Workloads by name."""
    table: Table = Table.HTTP_SERVERS
    """Kind of the run's tables."""
    scale: float = 1.0
    """Factor by which the suite's rates and times were scaled."""
    baseline: str | None
    """Id of the target that all other targets are compared with. Null: none."""
    precision: Precision | None
    """Requested precision. Null: the number of rounds was fixed."""
    retries: int = 0
    """Maximum number of repeats of a disturbed trial."""
    measures_noise: bool = False
    """Whether the rounds are A/A pairs, which compare a server with itself."""
    noise: Noise | None = None
    """Noise of this machine when the run began. Null: unknown, or no longer valid."""
    plan: tuple[TrialPlan, ...]
    """All planned trials in order, without repeats. For a search, the plan contains only the first trial."""
    probes: dict[str, Probed]
    """Results of probes by target id. Targets that were not probed are missing."""
    results: tuple[Result, ...]
    """Cells, in the order of the tables."""
    name: str | None = None
    """Name of the run. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags of the run."""
    load_host: LoadHost | None = None
    """Machine that ran the load generators. Null: the target's own machine."""
    published: str | None = None
    """Project that published the results, such as ``techempower``. Null: httpbench measured them itself.

    Most of the environment of published results is unknown.
    """
    search: Search | None = None
    """Search for the highest rate. Null: no search."""
    saturation: ExportedSaturation | None = None
    """Result of the search. Null: no search."""
    composite: Composite | None = None
    """Composite ranking. Null: the run has fewer than two of TechEmpower's tests, or fewer than two targets with all of them."""
    comparisons: tuple[Against, ...]
    """Comparisons with the baseline. Empty: the run has none."""
    gates: tuple[GateResult, ...] = ()
    """Result of each gate of ``--fail-if``. Empty: no gates, or the run was interrupted."""
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate counts as failed."""
    looks: tuple[int, ...] = ()
    """Numbers of rounds after which the run ends if its gates are decided. Empty: it runs all rounds."""
    profiles: tuple[Profile, ...] = ()
    """Profiles, with the kernel's counts, from a last round that doesn't count. Empty: none."""
    profile_changes: tuple[ProfileChanges, ...] = ()
    """Changes from the baseline's profiles to those of the other targets."""


def render_json(run: Run, trials: Sequence[Trial]) -> str:
    """Render strict JSON (RFC 8259), with ``null`` for missing numbers. The text ends with a line break."""
    return document(run, trials).model_dump_json(indent=2, by_alias=True) + "\n"


def document(run: Run, trials: Sequence[Trial]) -> Document:
    """Make the document that contains a whole run."""
    found = groups(run, trials)
    return Document(
        **same_fields(run, Document, but={"targets", "gates"}),
        run=run.id,
        targets={name: ExportedTarget.model_validate(target, from_attributes=True) for name, target in run.targets.items()},
        probes={trial.plan.target: trial.probed for trial in trials if trial.probed is not None},
        results=tuple(result for group in found for result in _results(run, group)),
        saturation=run.search and ExportedSaturation.model_validate(saturation(run.search, trials), from_attributes=True),
        composite=None if run.search else composite_of(trials),
        comparisons=tuple(part for group in found for part in _against(group, run.baseline)),
        gates=tuple(map(_gate, gated(run, trials))),
        profile_changes=profile_changes(grown_in(run)),
    )


def same_fields(source: BaseModel, model: type[BaseModel], but: Collection[str] = ()) -> dict[str, Any]:
    """Return the values of the fields that two models share, except those in ``but``."""
    return {name: getattr(source, name) for name in type(source).model_fields if name in model.model_fields and name not in but}


def _gate(judged: RunGate) -> GateResult:
    return GateResult(
        gate=judged.gate,
        target=judged.row.target.id if judged.row else None,
        place=gate_place(judged),
        passage=judged.passage,
        ratio=judged.ratio,
        interval=judged.interval,
        reason=gate_reason(judged),
        rounds_enough=judged.rounds_enough,
        undecidable=gate_causes(judged),
    )


def _against(group: Group, baseline: str | None) -> Iterator[Against]:
    for compared in against(group, baseline):
        for figure, comparison in compared.figures.items():
            if comparison is not None:
                yield Against(
                    target=compared.row.target.id,
                    baseline=compared.baseline.target.id,
                    workload=group.workload,
                    scaling=group.scaling,
                    load_generator=group.load_generator,
                    load=group.load,
                    figure=figure,
                    comparison=comparison,
                    differs=comparison.differs,
                    holds=compared.holds(figure),
                )


def _results(run: Run, group: Group) -> Iterator[Result]:
    ranks = ranking(group)
    added = differences(group, run.baseline) if run.table is Table.TCP_PROXIES else {}
    for row in (*group.rows, *group.own_baselines.values()):
        rank = ranks.get(row.target.id)
        yield Result(
            **same_fields(row.summary, Result, but={"rounds"}),
            rank=rank.best if rank else None,
            rank_best=rank.best if rank else None,
            rank_worst=rank.worst if rank else None,
            summary=ExportedSummary.model_validate(with_merged(row.summary, row.trials), from_attributes=True),
            overhead=added.get(row.target.id, {}),
            rounds=tuple(map(_round, row.attempts)),
        )


def _round(trial: Trial) -> Round:
    return Round(
        **same_fields(trial, Round),
        **same_fields(trial.observed, Round),
        **same_fields(trial.plan, Round),
        unsteady=sentence(reason) if (reason := unsteady(trial) or not_shown_steady(trial)) else None,
        facts=facts(trial),
    )
