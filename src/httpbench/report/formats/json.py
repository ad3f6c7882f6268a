"""The whole run as one JSON document, of the schema ``httpbench/1``: for programs, and to check the arithmetic.

The models below are the schema; ``report.formats.schema`` writes it out as JSON Schema. Fields may be added to a version of the schema;
if one changes its meaning or goes, that is a new version.

Trials that do not count are in it with what was measured: look at the verdict first.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, PlainSerializer

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
    Frozen,
    Id,
    Isolation,
    Kind,
    Learned,
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
    Reason,
    Run,
    RunStatus,
    SampledResponse,
    Scaling,
    Search,
    Settling,
    Table,
    Target,
    Trial,
    TrialPlan,
    Tuning,
    Usage,
    Verdict,
    VerdictKind,
    Workload,
)
from httpbench.report.tables.composite import composite_of
from httpbench.report.tables.groups import groups
from httpbench.report.tables.overhead import differences
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.compared_rows import against, ranking
from httpbench.report.within_run.gates import Gated, gated
from httpbench.report.words.reasons import joined, sentence, sentences
from httpbench.stats.composite import Composite
from httpbench.stats.facts import Facts, facts
from httpbench.stats.level import RatePoint, Saturation, saturation
from httpbench.stats.overhead import Difference
from httpbench.stats.paired import Comparison
from httpbench.stats.steady import not_shown_steady, unsteady
from httpbench.stats.summary import Summary, with_merged


class ExportedVerdict(Frozen):
    """What limited a trial; or why its figures do not count."""

    kind: VerdictKind
    """What limited the trial, or that it has no figures."""
    reasons: tuple[str, ...] = ()
    """Why, in sentences; may be empty."""
    is_accepted: bool = False
    """Whether the trial counts although it was disturbed, because repeats were turned off."""
    causes: tuple[Reason, ...] = ()
    """The reasons as values: their kinds, and the numbers and names that the sentences contain."""


def _exported_verdict(verdict: Verdict) -> ExportedVerdict:
    return ExportedVerdict(kind=verdict.kind, reasons=tuple(sentences(verdict)), is_accepted=verdict.is_accepted, causes=verdict.reasons)


InWords = Annotated[Verdict, PlainSerializer(_exported_verdict, return_type=ExportedVerdict)]
"""A verdict, exported with its sentences."""


class ExportedPoint(RatePoint):
    """All trials at one rate that count."""

    misses: Annotated[tuple[Reason, ...], PlainSerializer(lambda found: tuple(map(sentence, found)), return_type=tuple[str, ...])]
    """Why the service level did not hold, each reason once."""


class ExportedSaturation(Saturation):
    """The result of a search."""

    curve: tuple[ExportedPoint, ...]
    """All rates, ascending."""
    disturbed_by: Annotated[
        tuple[tuple[Reason, ...], ...],
        BeforeValidator(lambda found: [[each] if isinstance(each, str) else each for each in found]),
        PlainSerializer(lambda found: tuple(map(joined, found)), return_type=tuple[str, ...]),
    ] = ()
    """Who disturbed them and how much, in words, each trial that was."""


class ExportedSummary(Summary):
    """One cell of a run: what its rounds have in common, and their figures. ``None``: not measured, or no round counts."""

    verdict: InWords
    """The most common verdict of the rounds that count, but ``generator`` if one of them has it; or why none counts."""


class ExportedTarget(Frozen):
    """A target without its place and build on this machine."""

    id: Id
    """Id: ``language/framework[/variant]``."""
    kind: Kind
    """Kind of target."""
    language: str
    """Programming language."""
    framework: str
    """Framework or library."""
    variant: str | None
    """Name of the variant. Null: there is one."""
    category: Category | None
    """What the target declares itself to be. Null: it comes from the command line, or its catalogue does not say."""
    tuning: Tuning
    """How the target is written."""
    limits: tuple[Limit, ...]
    """What the target cannot do by design."""
    upstream: str | None
    """Home page of the framework. Null: it comes from the command line, or its catalogue does not say."""
    notes: str | None
    """What readers of figures should know. Null: nothing."""
    run: tuple[str, ...]
    """Command line; empty if there is a ``url``."""
    url: str | None
    """``http://HOST:PORT`` of a running server, which is neither started nor stopped; its CPU time is unknown. Null: the target
    is started."""
    prepare: tuple[str, ...]
    """Command that runs to its end before each trial; empty: none."""
    env: dict[str, str]
    """Environment variables."""
    isolation: Isolation | None = None
    """The container that it runs in, and its limits. Null: it runs as a process."""
    paths: dict[str, str] = Field(default_factory=dict)
    """Path of each test that it serves, by the test's name. Empty: it serves every workload at the workload's own path."""
    database: Database | None = None
    """Database that it asks. Null: none."""
    entry: Entry | None = None
    """What the catalogue of another project says of it. Null: it is not from one."""


class Round(Frozen):
    """A trial, without what all rounds of its cell have in common."""

    number: int
    """Place in the run, from 0."""
    round: int
    """Round, from 0."""
    attempt: int = 0
    """0: as planned. Higher: a repeat, because the attempts before it were disturbed."""
    started_at: str
    """Start: UTC, ISO 8601."""
    cores: Cores
    """Which CPUs each program got."""
    workers: int | None = None
    """Number of workers or copies of the target that the user chose. Null: one for each of its physical cores."""
    verdict: InWords
    """What limited the trial, or why it does not count."""
    measurement: Measurement | None
    """What the load generator measured. Null: nothing, or the target is a client."""
    client: ClientMeasurement | None = None
    """What the timer measured. Null: nothing, or the target is no client."""
    target_usage: Usage | None
    """CPU and memory of the target. Null: not watched."""
    target_polling_threads: float | None = None
    """Mean number of the target's threads that ran or were ready to run while it got no requests, the least of several looks; from 0.5 on
    it polls. Null: not watched."""
    generator_usage: Usage | None
    """CPU and memory of the load generator. Null: not watched."""
    backend_usage: Usage | None = None
    """CPU and memory of the server behind a proxy. Null: no proxy, or not watched."""
    database_usage: Usage | None = None
    """CPU and memory of the target's database. Null: none, or not watched."""
    database: DatabaseRun | None = None
    """The database that the target asked, and what it counted. Null: none."""
    settling: Settling | None = None
    """The part of the warm-up that lasts until throughput is steady. Null: the warm-up had a fixed length."""
    unsteady: str | None = None
    """Why the round is not steady, or not shown to be, in words. Null: no change was seen."""
    occupancy: tuple[CoreOccupancy, ...]
    """Use of the CPUs of target and load generator, and of their SMT siblings."""
    others: Others | None = None
    """What else ran on the machine. Null: not watched."""
    network: Network | None = None
    """Counters of the kernel's network stack. Null: not read."""
    facts: Facts | None = None
    """The figures behind the verdict. Null: nothing was measured."""
    response: SampledResponse | None
    """A response of the target. Null: none was kept."""
    learned: Learned | None = None
    """The correct response, learned from the target. Null: the workload states it."""
    accept_queue: int | None = None
    """Connections that the target's listening socket queues until they are accepted. Null: unknown."""
    overhead_s: float | None
    """Wall time beyond warm-up and measurement, builds aside, in seconds. Null: unknown."""
    log_tail: str | None
    """Last lines of the output of the program that failed. Null: none."""
    container: ContainerRun | None = None
    """The container that the target ran in. Null: it ran as a process, or its container did not start."""
    load_host: LoadHostUse | None = None
    """What was seen of the load host. Null: the load generator ran on the target's machine, or nothing was measured."""
    commands: Commands | None = None
    """The command lines that made the trial. Null: it failed before they ran, or an earlier version stored it."""
    incidents: tuple[Reason, ...] = ()
    """Events that bear on the verdict, such as the target's death. Earlier versions stored none."""
    criteria: Criteria = Criteria()
    """What the trial is judged by besides its plan."""


class Result(Frozen):
    """A cell: one target under one load, with all its rounds."""

    target: Id
    """Key of ``targets``."""
    workload: str
    """Key of ``workloads``."""
    scaling: Scaling
    """How the target used cores."""
    load_generator: str
    """Name of the load generator; for clients of the timer."""
    load: Load
    """How the requests were made."""
    verdict: InWords
    """The most common verdict of the rounds that count, but ``generator`` if one of them has it; or why none counts."""
    rank: int | None
    """Rank by throughput; ties share one. Null: too few rounds count, fewer than those of the others, the load generator was the
    limit, or the load has a rate."""
    summary: ExportedSummary
    """Figures over the rounds that count."""
    overhead: dict[str, Difference]
    """For proxies, by figure: the difference to the baseline of the same rounds, in µs."""
    rounds: tuple[Round, ...]
    """All rounds, with those that do not count, and with each attempt that was disturbed and repeated."""


class Against(Frozen):
    """One figure of one target compared with the baseline's, within one table."""

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
    """How the requests were made."""
    figure: str
    """``throughput_rps``, ``latency_us_p99`` (response time with a rate) or ``cpu_us_per_request``."""
    comparison: Comparison
    """The ratio of the target to the baseline."""
    differs: bool
    """Whether a difference may be claimed: the corrected p-value is at most 0.05."""


class Document(Frozen):
    """A run: where and how it was made, and what came of it."""

    schema_: Literal["httpbench/1"] = Field(default="httpbench/1", alias="schema")
    """Name and version of this schema."""
    run: str
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
    targets: dict[str, ExportedTarget]
    """Targets by id."""
    workloads: dict[str, Workload]
    """Workloads by name."""
    table: Table = Table.HTTP_SERVERS
    """Columns of its tables, which its suite chose."""
    scale: float = 1.0
    """Factor on the suite's rates and times."""
    baseline: str | None
    """Id of the target that the others are compared with. Null: none."""
    precision: Precision | None
    """Rounds until intervals are narrow enough. Null: a fixed number."""
    retries: int = 0
    """How often a disturbed trial is repeated at most."""
    measures_noise: bool = False
    """Whether its rounds are A/A pairs: one server against itself."""
    noise: Noise | None = None
    """The known noise of this machine when the run began. Null: unknown, or no longer valid."""
    plan: tuple[TrialPlan, ...]
    """All trials in their order, without repeats; of a search, only the first."""
    probes: dict[str, Probed]
    """What probes found, by id of the target; without those that were not probed."""
    results: tuple[Result, ...]
    """Cells, in the order of the tables."""
    name: str | None = None
    """Name of the run. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags of the run."""
    load_host: LoadHost | None = None
    """The machine that ran the load generators. Null: the target's own."""
    published: str | None = None
    """Project that published the figures, such as ``techempower``; most of the environment is then unknown. Null: httpbench measured
    them."""
    search: Search | None = None
    """Search for the highest rate. Null: no search."""
    saturation: ExportedSaturation | None = None
    """Result of the search. Null: no search."""
    composite: Composite | None = None
    """Composite ranking. Null: the run has fewer than two of TechEmpower's tests, or fewer than two targets with all of them."""
    comparisons: tuple[Against, ...]
    """Comparisons with the baseline; empty without one."""
    gates: tuple[Gated, ...] = ()
    """How each gate of ``--fail-if`` ended, and why; empty without gates, or if the run was interrupted."""


def render_json(run: Run, trials: Sequence[Trial]) -> str:
    """Strict JSON (RFC 8259): what is not a number is ``null``. Ends with a line break."""
    return document(run, trials).model_dump_json(indent=2, by_alias=True) + "\n"


def document(run: Run, trials: Sequence[Trial]) -> Document:
    found = groups(run, trials)
    return Document(
        **same_fields(run, Document, but={"targets", "gates"}),
        run=run.id,
        targets={name: _exported(target) for name, target in run.targets.items()},
        probes={trial.plan.target: trial.probed for trial in trials if trial.probed is not None},
        results=tuple(result for group in found for result in _results(run, group)),
        saturation=_saturation(run, trials),
        composite=None if run.search else composite_of(trials),
        comparisons=tuple(part for group in found for part in _against(group, run.baseline)),
        gates=tuple(gated(run, trials)),
    )


def same_fields(source: BaseModel, model: type[BaseModel], but: Collection[str] = ()) -> dict[str, Any]:
    """The values of a source that another model holds under the same names, but those that it holds in another form."""
    return {name: getattr(source, name) for name in type(source).model_fields if name in model.model_fields and name not in but}


def _exported(target: Target) -> ExportedTarget:
    return ExportedTarget(**same_fields(target, ExportedTarget))


def _against(group: Group, baseline: str | None) -> Iterator[Against]:
    for compared in against(group, baseline) if baseline else ():
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
                )


def _results(run: Run, group: Group) -> Iterator[Result]:
    ranks = ranking(group)
    added = differences(group, run.baseline) if run.table is Table.TCP_PROXIES else {}
    for row in group.rows:
        yield _result(row, ranks.get(row.target.id), added.get(row.target.id, {}))


def _result(row: Row, rank: int | None, added: dict[str, Difference]) -> Result:
    return Result(
        **same_fields(row.summary, Result, but={"rounds"}),
        rank=rank,
        summary=ExportedSummary(**same_fields(with_merged(row.summary, row.trials), ExportedSummary)),
        overhead=added,
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


def _saturation(run: Run, trials: Sequence[Trial]) -> ExportedSaturation | None:
    if run.search is None:
        return None
    found = saturation(run.search, trials)
    curve = tuple(ExportedPoint(**same_fields(point, ExportedPoint)) for point in found.curve)
    return ExportedSaturation(**same_fields(found, ExportedSaturation, but={"curve"}), curve=curve)
