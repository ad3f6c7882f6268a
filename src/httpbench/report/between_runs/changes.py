"""What changed from one run to another, cell by cell: figures, verdicts, gates. Of the schema ``httpbench-changes/1``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from httpbench.model import Frozen, Load, Run, Scaling, Trial, VerdictKind
from httpbench.report.between_runs.environments import differences, toolchains
from httpbench.report.tables.groups import groups
from httpbench.report.tables.rows import Row
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Gate, Passage, passage
from httpbench.stats.unpaired import Change, change

SHOWN = ("rps", "p50", "p99", "cpu", "memory", "time")
"""Figures that are compared without a gate."""

Measured = tuple[Run, Sequence[Trial]]


class Side(Frozen):
    """One of the two runs."""

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
    reasons_head: tuple[str, ...]
    """Why the rounds of head do not count, or what limited them."""
    figures: dict[str, Change]
    """By the name that gates have for it; what a run lacks is left out. With a rate, ``rps`` is left out."""


class Judged(Frozen):
    """A gate at one cell."""

    gate: Gate
    cell: int
    """Index in ``cells``."""
    passage: Passage


class Changes(Frozen):
    """Base and head, and what is between them."""

    schema_: Literal["httpbench-changes/1"] = Field(default="httpbench-changes/1", alias="schema")
    base: Side
    head: Side
    environment: tuple[str, ...]
    """What differs and should not."""
    toolchains: tuple[str, ...]
    """What changed among programs and libraries."""
    cells: tuple[Cell, ...]
    not_compared: tuple[str, ...]
    """Cells that only one run has."""
    gates: tuple[Judged, ...]

    @property
    def breached(self) -> bool:
        return any(judged.passage is Passage.BREACHED for judged in self.gates)

    @property
    def unknown(self) -> bool:
        """A gate could not be judged where the base has figures: it would let everything pass."""
        return any(judged.passage is Passage.UNKNOWN for judged in self.gates)


def changes(base: Measured, head: Measured, gates: Sequence[Gate] = ()) -> Changes:
    """Each cell that both runs have, in the order of head's tables."""
    before, after = _cells(base), _cells(head)
    common = [key for key in after if key in before]
    names = list(dict.fromkeys((*SHOWN, *(gate.figure for gate in gates))))
    found = [_cell(before[key], after[key], names, len(common)) for key in common]
    return Changes(
        base=_side(base[0]),
        head=_side(head[0]),
        environment=tuple(differences(base[0].environment, head[0].environment)),
        toolchains=tuple(toolchains(base[0].environment, head[0].environment)),
        cells=tuple(found),
        not_compared=(*_alone(before, after, "base"), *_alone(after, before, "head")),
        gates=tuple(
            Judged(gate=gate, cell=index, passage=passage(gate, known.interval if (known := cell.figures.get(gate.figure)) else None))
            for gate in gates
            for index, cell in enumerate(found)
        ),
    )


def render_changes_json(found: Changes) -> str:
    """Ends with a line break."""
    return found.model_dump_json(indent=2, by_alias=True) + "\n"


_Key = tuple[object, ...]


def _cells(measured: Measured) -> dict[_Key, Row]:
    """By what must be alike: the cell, and the request and expected response of its workload, for a name may mean something else by now."""
    run, trials = measured
    rows = [row for group in groups(run, trials) for row in group.rows]
    return {(*row.summary.cell, run.workloads[row.summary.workload].model_dump_json()): row for row in rows}


def _cell(base: Row, head: Row, names: Sequence[str], comparisons: int) -> Cell:
    summary = head.summary
    pairs = {name: _change(base, head, name, comparisons) for name in names if name != "rps" or summary.load.rate_rps is None}
    return Cell(
        target=summary.target,
        workload=summary.workload,
        scaling=summary.scaling,
        load_generator=summary.load_generator,
        load=summary.load,
        verdict_base=base.summary.verdict.kind,
        verdict_head=summary.verdict.kind,
        reasons_head=summary.verdict.reasons,
        figures={name: pair for name, pair in pairs.items() if pair is not None},
    )


def _change(base: Row, head: Row, name: str, comparisons: int) -> Change | None:
    figure = BY_NAME[name]
    before, after = (list(figure.rounds(row.trials).values()) for row in (base, head))
    return change(before, after, comparisons, figure.resolution)


def _alone(ours: dict[_Key, Row], theirs: dict[_Key, Row], side: str) -> list[str]:
    """A sentence for each target and workload, however many loads it has."""
    others = {row.target.id for row in theirs.values()}
    alone: dict[tuple[str, str, int], int] = {}
    for key, row in ours.items():
        if key not in theirs:
            place = (row.target.id, row.summary.workload, row.summary.load.connections)
            alone[place] = alone.get(place, 0) + 1
    return [
        f"Only in {side}: {name} ({workload}, {connections} connections{f', {loads} loads' if loads > 1 else ''})"
        + (f", with {'this load' if loads == 1 else 'these loads'}" if name in others else "")
        for (name, workload, connections), loads in alone.items()
    ]


def _side(run: Run) -> Side:
    return Side(run=run.id, name=run.name, started_at=run.started_at, git_commit=run.environment.git_commit)
