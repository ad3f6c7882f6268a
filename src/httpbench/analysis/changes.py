"""Changes from one run to another, cell by cell: metrics, verdicts and gates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from httpbench.analysis.beyond import beyond
from httpbench.analysis.compared import lost_too_many
from httpbench.analysis.environments import Mismatch, differences, load_hosts, resources, toolchains
from httpbench.analysis.gates import JudgedGate, Obstacle
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import Grown, grown_between
from httpbench.analysis.rows import Row
from httpbench.model import Frozen, Gate, Load, Reason, Run, Scaling, Target, Trial, VerdictKind
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Passage, leaves_open, lost_rounds
from httpbench.stats.summary import Summary
from httpbench.stats.unpaired import Change, change

SHOWN = ("rps", "p50", "p99", "cpu", "memory", "time")
"""Metrics that are always compared. Other metrics are compared if a gate or the user names them."""

SHOWN_OF_STARTUP = ("ready", "first", "to-steady", "memory-ready", "memory", "memory-rest", "size")
"""Metrics that are always compared if start-up was measured."""

RunAndTrials = tuple[Run, Sequence[Trial]]


class Side(Frozen):
    """One of the two compared runs."""

    run: str
    name: str | None
    started_at: str
    git_commit: str | None


class Cell(Frozen):
    """One target under one load, in both runs."""

    target: str
    workload: str
    scaling: Scaling
    load_generator: str
    load: Load
    verdict_base: VerdictKind
    verdict_head: VerdictKind
    reasons_head: tuple[Reason, ...]
    """Reasons for head's verdict, including the reasons why rounds don't count."""
    figures: dict[str, Change]
    """Changes by metric. A metric is omitted if one of the runs lacks it. A load with a rate has no ``rps``. Empty: one of the runs lost
    too many rounds."""
    lost_base: Reason | None = None
    """Number of base's rounds that don't count, and why, if they are too many for a comparison. Null: not too many."""
    lost_head: Reason | None = None
    """Number of head's rounds that failed or are invalid, and why. Null: none."""
    is_bound: bool = False
    """Whether results of either run are only bounds, because something other than the target was full or nearly full."""


@dataclass(frozen=True, slots=True)
class Alone:
    """One or more loads of a target that only one of the two runs measured."""

    side: Literal["base", "head"]
    target: str
    workload: str
    connections: int
    loads: int
    elsewhere: Literal["limits", "load"] | None
    """Why the other run lacks these loads. ``limits``: the other run measured the target with different container limits. ``load``: it
    measured the target under a different workload or load. ``None``: it didn't measure the target."""
    is_declared: bool
    """Whether the target comes from a catalog, which determines its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeGate(JudgedGate):
    """The result of a gate for one cell."""

    at: Cell | Summary
    """The compared cell, or the summary from base if head lacks the cell."""
    index: int | None = None
    """Index of the cell in :attr:`Changes.cells`. ``None``: only base has the cell."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Two runs, base and head, and the differences between them."""

    base: Side
    head: Side
    environment: tuple[Mismatch, ...]
    """Properties of the environment that must match but don't."""
    toolchains: tuple[Mismatch, ...]
    """Programs and libraries with different versions."""
    cells: tuple[Cell, ...]
    not_compared: tuple[Alone, ...]
    gates: tuple[ChangeGate, ...]
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate counts as failed."""
    grown: tuple[Grown, ...] = ()
    """Changes of the profiles that both runs have."""

    @property
    def breached(self) -> bool:
        """Whether at least one gate was breached."""
        return any(judged.passage is Passage.BREACHED for judged in self.gates)

    @property
    def undecided(self) -> bool:
        """Whether at least one gate could not be judged or, if ``fails_if_inconclusive`` is set, was inconclusive."""
        return leaves_open((judged.passage for judged in self.gates), fails_if_inconclusive=self.fails_if_inconclusive)

    @property
    def lacks_common_name(self) -> bool:
        """Whether the runs share no cell, although both measured commands. Their names may differ only by accident."""
        unnamed = {alone.side for alone in self.not_compared if not alone.is_declared and alone.elsewhere is None}
        return not self.cells and unnamed == {"base", "head"}

    @property
    def figures(self) -> list[str]:
        """Metrics that at least one cell has."""
        return list(dict.fromkeys(name for cell in self.cells for name in cell.figures))


def changes(
    base: RunAndTrials, head: RunAndTrials, gates: Sequence[Gate] = (), further: Sequence[str] = (), *, fails_if_inconclusive: bool = False
) -> Changes:
    """Compare each cell that both runs have, in the order of head's tables.

    ``further`` contains metrics to compare in addition to those that are always compared.
    """
    before, after = _cells(base), _cells(head)
    common = [key for key in after if key in before]
    names = (*further, *(gate.figure for gate in gates))
    lost = [row.summary for key, row in before.items() if key not in after]
    pairs = [(before[key], after[key]) for key in common]
    found = [_cell(*pair, names, len(common)) for pair in pairs]
    return Changes(
        base=_side(base[0]),
        head=_side(head[0]),
        environment=(
            *differences(base[0].environment, head[0].environment),
            *load_hosts(base[0].load_host, head[0].load_host),
            *dict.fromkeys(found for key in common for found in resources(before[key].trials[0].plan, after[key].trials[0].plan)),
        ),
        toolchains=tuple(toolchains(base[0].environment, head[0].environment)),
        cells=tuple(found),
        not_compared=(*_alone(before, after, "base"), *_alone(after, before, "head")),
        fails_if_inconclusive=fails_if_inconclusive,
        grown=tuple(grown_between(base[0], head[0])),
        gates=tuple(judged for gate in gates for judged in _gates(gate, found, pairs, lost)),
    )


_Key = tuple[object, ...]


def _cells(measured: RunAndTrials) -> dict[_Key, Row]:
    """Return the rows, keyed by all properties that must match: the cell, the definition of its workload and the limits of its container.

    The name of the workload is not enough, because its definition may have changed between the runs.
    """
    run, trials = measured
    # Rates relative to a peak differ between runs, so their results can't be compared.
    rows = [row for group in groups(run, trials) if group.load.share_of_peak is None for row in group.rows]
    definitions = {name: workload.model_dump_json() for name, workload in run.workloads.items()}
    return {(*row.trials[0].plan.cell, definitions.get(row.summary.workload), _limits(row.target)): row for row in rows}


def _limits(target: Target) -> tuple[float, int] | None:
    return None if target.isolation is None else (target.isolation.cpus, target.isolation.memory_bytes)


def _cell(base: Row, head: Row, names: Sequence[str], comparisons: int) -> Cell:
    summary = head.summary
    lost_base, lost_head = lost_too_many(base.trials), lost_too_many(head.trials)
    shown = SHOWN_OF_STARTUP if summary.load.is_of_startup else SHOWN
    wanted = [name for name in dict.fromkeys((*shown, *names)) if name != "rps" or summary.load.rate_rps is None]
    known = [] if lost_base or lost_head else wanted
    return Cell(
        target=summary.target,
        workload=summary.workload,
        scaling=summary.scaling,
        load_generator=summary.load_generator,
        load=summary.load,
        verdict_base=base.summary.verdict.kind,
        verdict_head=summary.verdict.kind,
        reasons_head=summary.verdict.reasons,
        figures={name: found for name in known if (found := _change(base, head, name, comparisons)) is not None},
        lost_base=lost_base,
        lost_head=lost_rounds(head.trials) or lost_head,
        is_bound=base.is_lower_bound or head.is_lower_bound,
    )


def _gates(gate: Gate, cells: Sequence[Cell], pairs: Sequence[tuple[Row, Row]], lost: Sequence[Summary]) -> Iterator[ChangeGate]:
    """Judge a gate at each cell. ``pairs`` contains the rows of the cells, and ``lost`` the summaries of cells that only base has."""
    for index, (cell, (base, head)) in enumerate(zip(cells, pairs, strict=True)):
        found = cell.figures.get(gate.figure)
        judged = ChangeGate(
            gate=gate,
            at=cell,
            index=index,
            obstacle=_obstacle(gate, cell),
            lost=cell.lost_head or cell.lost_base,
            beyond=beyond(BY_NAME[gate.figure].name, head, base, found.interval if found else None),
        )
        yield judged.by_ratio(found) if found else judged
    yield from (ChangeGate(gate=gate, at=summary, obstacle=Obstacle.NO_TARGET) for summary in lost)


def _obstacle(gate: Gate, cell: Cell) -> Obstacle | None:
    if cell.lost_head is not None or cell.lost_base is not None:
        return Obstacle.LOST_ROUNDS
    if gate.figure == "rps" and cell.load.rate_rps is not None:
        return Obstacle.FIXED_BY_RATE
    change = cell.figures.get(gate.figure)
    if change is None:
        return Obstacle.NO_ROUNDS
    return Obstacle.TOO_FEW_ROUNDS if change.interval is None else None


def _change(base: Row, head: Row, name: str, comparisons: int) -> Change | None:
    figure = BY_NAME[name]
    before, after = (list(figure.rounds(row.trials).values()) for row in (base, head))
    return change(before, after, comparisons, figure.resolution_of((*base.trials, *head.trials)))


def _alone(ours: dict[_Key, Row], theirs: dict[_Key, Row], side: Literal["base", "head"]) -> list[Alone]:
    """Return the cells that only one run has, grouped by target, workload and number of connections."""
    others = {row.target.id for row in theirs.values()}
    declared = {row.target.id for row in ours.values() if row.target.is_declared}
    without_limits = {key[:-1] for key in theirs}
    limited = {row.target.id for key, row in ours.items() if key not in theirs and key[:-1] in without_limits}
    lacking = [row.summary for key, row in ours.items() if key not in theirs]
    alone = Counter((summary.target, summary.workload, summary.load.connections) for summary in lacking)
    return [
        Alone(
            side,
            name,
            workload,
            connections,
            loads,
            elsewhere=None if name not in others else "limits" if name in limited else "load",
            is_declared=name in declared,
        )
        for (name, workload, connections), loads in alone.items()
    ]


def _side(run: Run) -> Side:
    return Side(run=run.id, name=run.name, started_at=run.started_at, git_commit=run.environment.git_commit)
