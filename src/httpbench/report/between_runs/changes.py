"""What changed from one run to another, cell by cell: figures, verdicts, gates. Of the schema ``httpbench-changes/1``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol

from pydantic import Field

from httpbench.model import Frozen, Gate, Load, Run, Scaling, Target, Trial, VerdictKind
from httpbench.report.between_runs.environments import differences, load_hosts, resources, toolchains
from httpbench.report.tables.groups import groups
from httpbench.report.tables.rows import Row
from httpbench.report.words.reasons import sentence, sentences
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Passage, lost_rounds, passage
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.summary import Summary
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
    lost_head: str | None = None
    """How many rounds of head failed or are invalid, and why. Null: none."""


class Judged(Frozen):
    """A gate at one cell."""

    gate: Gate
    cell: int | None
    """Index in ``cells``. Null: only base has the cell."""
    place: str
    """Target, workload and load."""
    passage: Passage
    reason: str | None
    """Why the gate could not be judged. Null: it was."""


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
        """A gate could not be judged: it would let everything pass."""
        return any(judged.passage is Passage.UNKNOWN for judged in self.gates)


def changes(base: Measured, head: Measured, gates: Sequence[Gate] = (), further: Sequence[str] = ()) -> Changes:
    """Each cell that both runs have, in the order of head's tables. ``further``: names of figures beyond the usual ones."""
    before, after = _cells(base), _cells(head)
    common = [key for key in after if key in before]
    names = list(dict.fromkeys((*SHOWN, *further, *(gate.figure for gate in gates))))
    found = [_cell(before[key], after[key], names, len(common)) for key in common]
    return Changes(
        base=_side(base[0]),
        head=_side(head[0]),
        environment=(
            *differences(base[0].environment, head[0].environment),
            *load_hosts(base[0].load_host, head[0].load_host),
            *_resources((before[key], after[key]) for key in common),
        ),
        toolchains=tuple(toolchains(base[0].environment, head[0].environment)),
        cells=tuple(found),
        not_compared=(*_alone(before, after, "base"), *_alone(after, before, "head")),
        gates=tuple(
            judged
            for gate in gates
            for judged in (
                *(_judged(gate, index, cell) for index, cell in enumerate(found)),
                *(_lacking(gate, row) for key, row in before.items() if key not in after),
            )
        ),
    )


def place(cell: Cell | Summary) -> str:
    """``c/nginx, plaintext single -c 64``."""
    return f"{cell.target}, {load_text(cell)}"


class Loaded(Protocol):
    """What a load is said of."""

    @property
    def workload(self) -> str: ...

    @property
    def scaling(self) -> Scaling: ...

    @property
    def load(self) -> Load: ...


def load_text(cell: Loaded) -> str:
    """``plaintext single -c 64``, and what else is not usual."""
    return " ".join(filter(None, load_parts(cell)))


def load_parts(cell: Loaded) -> tuple[str, ...]:
    """Workload, scaling, connections, then options, each empty if it is as usual."""
    load = cell.load
    return (
        cell.workload,
        str(cell.scaling),
        f"-c {load.connections}",
        f"--rate {load.rate_rps:g}" if load.rate_rps else "",
        f"--pipeline {load.pipeline}" if load.pipeline > 1 else "",
        "" if load.keepalive else "--no-keepalive",
        f"--requests-per-connection {load.requests_per_connection}" if load.requests_per_connection else "",
    )


def render_changes_json(found: Changes) -> str:
    """Ends with a line break."""
    return found.model_dump_json(indent=2, by_alias=True) + "\n"


_Key = tuple[object, ...]


def _cells(measured: Measured) -> dict[_Key, Row]:
    """By what must be alike: the cell, the request and expected response of its workload, for a name may mean something else by now, and
    the limits of its container."""
    run, trials = measured
    rows = [row for group in groups(run, trials) for row in group.rows]
    return {(*row.summary.cell, run.workloads[row.summary.workload].model_dump_json(), _limits(row.target)): row for row in rows}


def _limits(target: Target) -> tuple[float, int] | None:
    """Of its container."""
    return None if target.isolation is None else (target.isolation.cpus, target.isolation.memory_bytes)


def _resources(pairs: Iterable[tuple[Row, Row]]) -> list[str]:
    """How the cores and the number of workers that targets were given differ, a phrase each."""
    return list(dict.fromkeys(phrase for base, head in pairs for phrase in resources(base.trials[0].plan, head.trials[0].plan)))


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
        reasons_head=tuple(sentences(summary.verdict)),
        figures={name: pair for name, pair in pairs.items() if pair is not None},
        lost_head=sentence(lost) if (lost := lost_rounds(head.trials)) else None,
    )


def _judged(gate: Gate, index: int, cell: Cell) -> Judged:
    reason = _why_unknown(gate, cell)
    known = cell.figures.get(gate.figure)
    kind = Passage.UNKNOWN if reason or known is None else passage(gate, known.interval)
    return Judged(gate=gate, cell=index, place=place(cell), passage=kind, reason=reason)


def _lacking(gate: Gate, row: Row) -> Judged:
    reason = "head lacks this target under this load"
    return Judged(gate=gate, cell=None, place=place(row.summary), passage=Passage.UNKNOWN, reason=reason)


def _why_unknown(gate: Gate, cell: Cell) -> str | None:
    if cell.lost_head is not None:
        return f"in head {cell.lost_head}"
    if gate.figure == "rps" and cell.load.rate_rps is not None:
        return "`--rate` fixes throughput, so there is nothing to compare"
    change = cell.figures.get(gate.figure)
    if change is None:
        return "a run has no valid round with this figure"
    if change.interval is None:
        return f"{min(change.rounds_base, change.rounds_head)} rounds are too few; {ROUNDS_MIN} or more are required in each run"
    return None


def _change(base: Row, head: Row, name: str, comparisons: int) -> Change | None:
    figure = BY_NAME[name]
    before, after = (list(figure.rounds(row.trials).values()) for row in (base, head))
    return change(before, after, comparisons, figure.resolution)


def _alone(ours: dict[_Key, Row], theirs: dict[_Key, Row], side: str) -> list[str]:
    """A sentence for each target and workload, however many loads it has."""
    others = {row.target.id for row in theirs.values()}
    without_limits = {key[:-1] for key in theirs}
    limited = {row.target.id for key, row in ours.items() if key not in theirs and key[:-1] in without_limits}
    other = "head" if side == "base" else "base"
    alone: dict[tuple[str, str, int], int] = {}
    for key, row in ours.items():
        if key not in theirs:
            place = (row.target.id, row.summary.workload, row.summary.load.connections)
            alone[place] = alone.get(place, 0) + 1
    return [
        f"Only in {side}: {name} ({workload}, {connections} connections{f', {loads} loads' if loads > 1 else ''})"
        + (f"; {other} has it with {_what_differs(loads, limits=name in limited)}" if name in others else "")
        for (name, workload, connections), loads in alone.items()
    ]


def _what_differs(loads: int, *, limits: bool) -> str:
    return "other limits" if limits else "another load" if loads == 1 else "other loads"


def _load(row: Row) -> str:
    """``plaintext, 64 connections, 10,000 requests/s``."""
    load = row.summary.load
    rate = f", {load.rate_rps:,.0f} requests/s" if load.rate_rps else ""
    return f"{row.summary.workload}, {load.connections} connections{rate}"


def _side(run: Run) -> Side:
    return Side(run=run.id, name=run.name, started_at=run.started_at, git_commit=run.environment.git_commit)
