"""The matrix of the results explorer: the tables of several runs, with the place of each row and the reason why a target has no row.

Ranks and ratios compare only rows of the same table. The page combines ratios to scores, because readers choose the weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from functools import cached_property

from httpbench.analysis.compared import Compared, ahead, ranking
from httpbench.analysis.groups import groups, over_connections
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Target, Trial, TrialPlan
from httpbench.stats.figures import READY, WALL
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.ranks import RankRange
from httpbench.stats.stalls import are_unreported, hidden_stalls
from httpbench.stats.summary import Estimate


@dataclass(frozen=True)
class ExploredRun:
    """A run with its trials, and the targets that it skipped."""

    name: str
    """Name that is unique among the explored runs."""
    run: Run
    trials: Sequence[Trial]
    skipped: Sequence[str] = ()
    """Targets that the run left out, each with its reason: ``dotnet/aspcore: requires dotnet``."""
    report: str | None = None
    """Address of the run's report. ``None``: there is none."""

    @cached_property
    def groups(self) -> list[Group]:
        """The tables of the run. A search has none, because its rates depend on its earlier results."""
        return [] if self.run.search else groups(self.run, self.trials)


class Headline(Enum):
    """The result by which the rows of a table are compared."""

    THROUGHPUT = auto()
    P99 = auto()
    """Of a load with a rate, because the rate fixes throughput."""
    TIME = auto()
    """Time of a client's whole process."""
    READY = auto()
    """Time until a server has started."""

    @classmethod
    def of(cls, group: Group) -> Headline:
        """Return the headline of a table."""
        if group.client_work is not None:
            return cls.TIME
        if group.load.is_of_startup:
            return cls.READY
        return cls.THROUGHPUT if group.load.rate_rps is None else cls.P99

    def estimate(self, row: Row) -> Estimate | None:
        """Return the headline of a row: requests/s, µs for ``P99``, or seconds for the other times."""
        if self in (Headline.TIME, Headline.READY):
            figure = WALL if self is Headline.TIME else READY
            return Estimate.of(figure.rounds(row.trials).values())
        return row.headline


@dataclass(frozen=True, slots=True)
class Relative:
    """The speed of a row, relative to the fastest row of its table."""

    ratio: float
    """1 for the fastest row."""
    interval: ConfidenceInterval | None
    """95% confidence interval of ``ratio``. ``None``: the fastest row itself, or too few rounds."""
    may_be_lower: bool = False
    may_be_higher: bool = False
    """Whether the true ratio may lie beyond the interval, because a result is only a lower bound or cores were shared."""


class Why(Enum):
    """Why a table lacks a target."""

    SKIPPED = auto()
    """The run left the target out."""
    NOT_SERVED = auto()
    """The target doesn't serve the workload."""
    NOT_FINISHED = auto()
    """The run ended before the target's first trial."""
    NOT_PLANNED = auto()
    """The plan of the run has other loads of the target, or other targets."""


@dataclass(frozen=True, slots=True)
class Absence:
    """The reason why a table lacks a target."""

    why: Why
    lines: Sequence[str] = ()
    """What the run printed when it left the target out."""


@dataclass(frozen=True, slots=True)
class ExploredCell:
    """One target under one load."""

    row: Row
    estimate: Estimate | None
    """The headline. If no round counts, it contains the results of the rounds that don't count."""
    rank: RankRange | None
    relative: Relative | None
    """``None``: the row isn't compared, or the load has a rate."""
    hides_stalls: bool
    """Whether the p99 hides stalls, or may hide them because the load generator doesn't report stalls."""


@dataclass(frozen=True, slots=True)
class ExploredLoad:
    """One table."""

    source: ExploredRun
    group: Group
    headline: Headline
    family: int | None
    """Number of the set of tables that differ only in the number of connections. ``None``: the set has no other table."""
    cells: Sequence[ExploredCell]
    absences: Mapping[str, Absence]
    """Why the table lacks a target, for each other target of the explorer."""


@dataclass(frozen=True, slots=True)
class Explored:
    """All tables of several runs."""

    loads: Sequence[ExploredLoad]
    targets: Mapping[str, Target | None]
    """Every target by id, sorted. ``None``: no run measured the target, and only a list of skipped targets names it."""
    searches: int
    """Number of runs that aren't shown because they are searches."""


def explored(sources: Sequence[ExploredRun]) -> Explored:
    """Arrange the tables of several runs, in order."""
    alike = [several for source in sources for several in over_connections(source.groups)]
    families = {id(group): number for number, several in enumerate(alike) for group in several}
    skipped = {_skipped_target(line): None for source in sources for line in source.skipped}
    measured = {name: target for source in sources for name, target in source.run.targets.items() if not source.run.search}
    targets = dict(sorted({**skipped, **measured}.items()))
    return Explored(
        [_load(source, group, families.get(id(group)), list(targets)) for source in sources for group in source.groups],
        targets,
        sum(source.run.search is not None for source in sources),
    )


def _load(source: ExploredRun, group: Group, family: int | None, targets: Sequence[str]) -> ExploredLoad:
    headline, ranks, relatives = Headline.of(group), ranking(group), _relatives(group)
    cells = [
        ExploredCell(
            row=row,
            estimate=headline.estimate(row if row.counts else row.as_measured),
            rank=ranks.get(row.target.id),
            relative=relatives.get(row.target.id),
            hides_stalls=_hides_stalls(row),
        )
        for row in group.rows
    ]
    present = {row.target.id for row in group.rows}
    absences = {target: _absence(source, group, target) for target in targets if target not in present}
    return ExploredLoad(source, group, headline, family, cells, absences)


def _hides_stalls(row: Row) -> bool:
    if row.summary.load.rate_rps is not None or row.latency is None:
        return False
    return hidden_stalls(row.trials) is not None or are_unreported(row.trials)


def _relatives(group: Group) -> dict[str, Relative]:
    """Return the speed of each compared row, relative to the row with the best headline."""
    compared = [row for row in group.rows if row.counts and row.target.id != group.proxy_baseline]
    if Headline.of(group) is Headline.P99 or not compared:
        return {}
    leader, *others = compared
    found = {each.baseline.target.id: relative for each in ahead(group, leader, others) if (relative := _relative(each))}
    return {leader.target.id: Relative(1.0, None), **found}


def _relative(leading: Compared) -> Relative | None:
    """Invert the comparison of the fastest row with another row."""
    ((name, comparison),) = leading.figures.items()
    if comparison is None:
        return None
    beyond, interval = leading.beyond(name), comparison.interval
    inverse = ConfidenceInterval(low=1 / interval.high, high=1 / interval.low) if interval else None
    return Relative(1 / comparison.ratio, inverse, may_be_lower=bool(beyond.higher), may_be_higher=bool(beyond.lower))


def _absence(source: ExploredRun, group: Group, target: str) -> Absence:
    run = source.run
    lines = [line for line in source.skipped if _skipped_target(line) == target]
    if lines:
        return Absence(Why.SKIPPED, lines)
    workload, known = run.workloads.get(group.workload), run.targets.get(target)
    if any(plan.target == target and _is_in(plan, group) for plan in run.plan):
        return Absence(Why.NOT_FINISHED)
    if workload is not None and known is not None and known.kind is workload.kind and not workload.is_served_by(known):
        return Absence(Why.NOT_SERVED)
    return Absence(Why.NOT_PLANNED)


def _is_in(plan: TrialPlan, group: Group) -> bool:
    """Return whether a planned trial belongs to a table."""
    return (plan.workload, plan.load, plan.scaling) == (group.workload, group.load, group.scaling)


def _skipped_target(line: str) -> str:
    """Return the target of a line such as ``c/a: requires gcc`` or ``HTTP/2 over TLS of c/a: not declared``."""
    return line.partition(": ")[0].rpartition(" ")[2]
