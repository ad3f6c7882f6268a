"""The whole run as one JSON document, of the schema ``httpbench/1``: for programs, and to check our arithmetic.

The models below are the schema; ``report.formats.schema`` writes it out as JSON Schema. Fields may be added to a version of the schema;
if one changes its meaning or goes, that is a new version.

Trials that do not count are in it with what was measured: look at the verdict first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from pydantic import Field

from httpbench.model import (
    Category,
    ClientMeasurement,
    CoreOccupancy,
    Cores,
    Environment,
    Frozen,
    Kind,
    Limit,
    Load,
    Measurement,
    Network,
    Noise,
    Precision,
    Probed,
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
    Workload,
)
from httpbench.report.tables.groups import groups
from httpbench.report.tables.overhead import differences
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.comparisons import against, ranking
from httpbench.stats.facts import Facts, facts
from httpbench.stats.level import Saturation, saturation
from httpbench.stats.overhead import Difference
from httpbench.stats.paired import Comparison
from httpbench.stats.steady import unsteady
from httpbench.stats.summary import Summary, with_merged


class ExportedTarget(Frozen):
    """A target without its place and build on this machine."""

    id: str
    kind: Kind
    language: str
    framework: str
    variant: str | None
    category: Category | None
    tuning: Tuning
    limits: tuple[Limit, ...]
    upstream: str | None
    notes: str | None
    run: tuple[str, ...]
    url: str | None
    prepare: tuple[str, ...]
    env: dict[str, str]


class Round(Frozen):
    """A trial, without what all rounds of its cell have in common."""

    number: int
    """Its place in the plan."""
    round: int
    started_at: str
    cores: Cores
    verdict: Verdict
    measurement: Measurement | None
    client: ClientMeasurement | None = None
    """In place of a measurement, where the target is a client."""
    target_usage: Usage | None
    generator_usage: Usage | None
    backend_usage: Usage | None = None
    """Of the server behind a proxy."""
    settling: Settling | None = None
    """The part of the warm-up that lasted until throughput was steady."""
    unsteady: str | None = None
    """Why the round is «not steady», in words."""
    occupancy: tuple[CoreOccupancy, ...]
    network: Network | None = None
    facts: Facts | None = None
    """The figures that the verdict was drawn from."""
    response: SampledResponse | None
    overhead_s: float | None
    log_tail: str | None


class Result(Frozen):
    """A cell: one target under one load, with all its rounds."""

    target: str
    """Key of ``targets``."""
    workload: str
    """Key of ``workloads``."""
    scaling: Scaling
    load_generator: str
    load: Load
    verdict: Verdict
    rank: int | None
    """By throughput; ties share one. ``None``: too few valid rounds, generator-bound, or there was a rate."""
    summary: Summary
    overhead: dict[str, Difference]
    """Of proxies: figure → what it adds to the baseline's of the same rounds, in µs."""
    rounds: tuple[Round, ...]


class Against(Frozen):
    """One figure of one target compared with the baseline's, within one table."""

    target: str
    baseline: str
    workload: str
    scaling: Scaling
    load_generator: str
    load: Load
    figure: str
    """``throughput_rps``, ``latency_us_p99`` (response time with a rate) or ``cpu_us_per_request``."""
    comparison: Comparison
    differs: bool
    """Whether a difference may be claimed: the corrected p-value is at most 0.05."""


class Document(Frozen):
    """A run: where and how it was made, and what came of it."""

    schema_: Literal["httpbench/1"] = Field(default="httpbench/1", alias="schema")
    run: str
    started_at: str
    finished_at: str | None
    status: RunStatus
    command: tuple[str, ...]
    environment: Environment
    targets: dict[str, ExportedTarget]
    workloads: dict[str, Workload]
    table: Table = Table.HTTP_SERVERS
    scale: float = 1.0
    """The rates and times of the suite were multiplied by this."""
    baseline: str | None
    precision: Precision | None
    """The columns that the run's suite chose for its tables."""
    measures_noise: bool = False
    """Its rounds are A/A pairs: one server, twice."""
    noise: Noise | None = None
    """What was known of this machine's noise; ``None``: nothing that still held."""
    plan: tuple[TrialPlan, ...]
    probes: dict[str, Probed]
    """What was seen of targets beyond the load, by id; without those that were not probed."""
    results: tuple[Result, ...]
    """In the order of the tables."""
    name: str | None = None
    """Of the run, where it was given one."""
    search: Search | None = None
    saturation: Saturation | None = None
    """Of a search: the highest rate at which the service level holds, and the curve."""
    comparisons: tuple[Against, ...]
    """With the run's baseline, where it has one."""


def render_json(run: Run, trials: Sequence[Trial]) -> str:
    """Strict JSON (RFC 8259): what is not a number is ``null``. Ends with a line break."""
    return document(run, trials).model_dump_json(indent=2, by_alias=True) + "\n"


def document(run: Run, trials: Sequence[Trial]) -> Document:
    found = groups(run, trials)
    return Document(
        run=run.id,
        started_at=run.started_at,
        finished_at=run.finished_at,
        status=run.status,
        command=run.command,
        environment=run.environment,
        targets={name: _exported(target) for name, target in run.targets.items()},
        workloads=run.workloads,
        table=run.table,
        scale=run.scale,
        plan=run.plan,
        baseline=run.baseline,
        precision=run.precision,
        measures_noise=run.measures_noise,
        noise=run.noise,
        probes={trial.plan.target: trial.probed for trial in trials if trial.probed is not None},
        results=tuple(result for group in found for result in _results(run, group)),
        name=run.name,
        search=run.search,
        saturation=saturation(run.search, trials) if run.search else None,
        comparisons=tuple(part for group in found for part in _against(group, run.baseline)),
    )


def _exported(target: Target) -> ExportedTarget:
    return ExportedTarget(**target.model_dump(include=set(ExportedTarget.model_fields)))


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
    summary = row.summary
    return Result(
        target=summary.target,
        workload=summary.workload,
        scaling=summary.scaling,
        load_generator=summary.load_generator,
        load=summary.load,
        verdict=summary.verdict,
        rank=rank,
        summary=with_merged(summary, row.trials),
        overhead=added,
        rounds=tuple(_round(trial) for trial in row.trials),
    )


def _round(trial: Trial) -> Round:
    plan = trial.plan
    return Round(
        number=plan.number,
        round=plan.round,
        started_at=trial.started_at,
        cores=plan.cores,
        verdict=trial.verdict,
        measurement=trial.measurement,
        client=trial.client,
        target_usage=trial.target_usage,
        generator_usage=trial.generator_usage,
        backend_usage=trial.backend_usage,
        settling=trial.settling,
        unsteady=unsteady(trial),
        occupancy=trial.occupancy,
        network=trial.network,
        facts=facts(trial),
        response=trial.response,
        overhead_s=trial.overhead_s,
        log_tail=trial.log_tail,
    )
