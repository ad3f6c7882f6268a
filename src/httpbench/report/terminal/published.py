"""Published results beside our own: order, ratios, how alike both orders are, and what differs in method.

Machines, loads and load generators differ, so throughput is not compared. Each side is relative to its own fastest target.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.model import Load, Run, Trial
from httpbench.report.terminal.grid import Cells, column, fitted
from httpbench.stats.rank_correlation import rank_correlation
from httpbench.stats.summary import cells, summarise

Measured = tuple[Run, Sequence[Trial]]


@dataclass(frozen=True, slots=True)
class Row:
    """One target on both sides."""

    name: str
    """As published."""
    theirs_rps: float
    ours_rps: float


@dataclass(frozen=True, slots=True)
class Beside:
    """One workload that both runs have."""

    workload: str
    rows: tuple[Row, ...]
    """Of the targets that both runs have, the fastest published one first."""

    @property
    def correlation(self) -> float | None:
        return rank_correlation([row.ours_rps for row in self.rows], [row.theirs_rps for row in self.rows])


def beside(theirs: Measured, ours: Measured) -> list[Beside]:
    """Each workload in the order of ours; without those that have no target in common."""
    published, own = _best(theirs), _best(ours)
    found = []
    for workload in dict.fromkeys(workload for workload, _ in own):
        names = [name for of, name in own if of == workload and (of, name) in published]
        rows = [Row(name, published[workload, name], own[workload, name]) for name in names]
        if rows:
            found.append(Beside(workload, tuple(sorted(rows, key=lambda row: -row.theirs_rps))))
    return found


def _best(measured: Measured) -> dict[tuple[str, str], float]:
    """By workload and published name: the median throughput over rounds, at the load where it is highest."""
    run, trials = measured
    best: dict[tuple[str, str], float] = {}
    for rounds in cells(trials):
        found = summarise(rounds)
        entry = run.targets[found.target].entry
        if found.throughput_rps is not None and found.load.rate_rps is None:
            key = (found.workload, entry.name if entry else found.target)
            best[key] = max(best.get(key, 0.0), found.throughput_rps.median)
    return best


def render_beside(theirs: Measured, ours: Measured, width: int) -> RenderableType:
    """For a console of ``width`` columns: a table for each workload, and what differs in method."""
    parts: list[RenderableType] = []
    for found in beside(theirs, ours):
        correlation = found.correlation
        alike = "" if correlation is None else f"; rank correlation {correlation:.2f}"
        parts += [
            Text(f"{found.workload}: {_count(found.rows)} in both runs{alike}", style="bold"),
            *fitted(_columns(found), width),
            Text(),
        ]
    if not parts:
        parts.append(Text("The runs have no target and workload in common; targets are matched by their published names."))
    return Stack(*parts, *(Text(f"· {line}", style="dim") for line in method(theirs, ours)))


def _count(rows: Sequence[Row]) -> str:
    return f"{len(rows)} targets" if len(rows) > 1 else "1 target"


def _columns(found: Beside) -> list[Cells]:
    best_theirs, best_ours = max(row.theirs_rps for row in found.rows), max(row.ours_rps for row in found.rows)
    places = [
        (sum(other.theirs_rps > row.theirs_rps for other in found.rows) + 1, sum(other.ours_rps > row.ours_rps for other in found.rows) + 1)
        for row in found.rows
    ]
    return [
        column("Target", (row.name for row in found.rows)),
        column("Theirs", (f"{row.theirs_rps:,.0f}" for row in found.rows), unit="requests/s", is_number=True),
        column("", (_percent(row.theirs_rps, best_theirs) for row in found.rows), unit="% of best", is_number=True),
        column("Ours", (f"{row.ours_rps:,.0f}" for row in found.rows), unit="requests/s", is_number=True),
        column("", (_percent(row.ours_rps, best_ours) for row in found.rows), unit="% of best", is_number=True),
        column("Rank", (f"{theirs} → {ours}" for theirs, ours in places), is_number=True),
    ]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def method(theirs: Measured, ours: Measured) -> Iterator[str]:
    """What differs in how both were measured."""
    pairs = [
        ("machine", *(run.environment.cpu_model for run, _ in (theirs, ours))),
        ("kernel", *(run.environment.kernel for run, _ in (theirs, ours))),
        ("load generator", *(_words(trial.plan.load_generator for trial in trials) for _, trials in (theirs, ours))),
        ("rounds", *(f"{1 + max((trial.plan.round for trial in trials), default=0)}" for _, trials in (theirs, ours))),
        ("loads", *(_words(_load(trial.plan.load) for trial in trials) for _, trials in (theirs, ours))),
    ]
    yield from (f"{name}: theirs {before}; ours {after}" for name, before, after in pairs if before != after)
    yield "Each figure is that at the load where it is highest. Theirs have no interval: each was measured once."


def _load(load: Load) -> str:
    pipeline = f" -p {load.pipeline}" if load.pipeline > 1 else ""
    return f"-c {load.connections}{pipeline} {load.duration_s:g} s"


def _words(texts: Iterator[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
