"""Published results next to our own on a terminal: order, ratios, rank correlation, and differences in method."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.changes import RunAndTrials
from httpbench.analysis.published import Beside, beside
from httpbench.model import Load
from httpbench.report.terminal.grid import Cells, column, fitted
from httpbench.report.words.loads import load_options
from httpbench.report.words.numbers import plural


def render_beside(theirs: RunAndTrials, ours: RunAndTrials, width: int) -> RenderableType:
    """Render a table for each workload, followed by the differences in method."""
    parts: list[RenderableType] = []
    for found in beside(theirs, ours):
        alike = "" if found.correlation is None else f"; rank correlation {found.correlation:.2f}"
        heading = f"{found.workload}: {plural(len(found.pairs), 'target')} in both runs{alike}"
        parts += [Text(heading, style="bold"), *fitted(_columns(found), width), Text()]
    if not parts:
        parts.append(Text("The runs have no target and workload in common; targets are matched by their published names."))
    return Stack(*parts, *(Text(f"· {line}", style="dim") for line in _method(theirs, ours)))


def _columns(found: Beside) -> list[Cells]:
    theirs, ours = [pair.theirs_rps for pair in found.pairs], [pair.ours_rps for pair in found.pairs]
    return [
        column("Target", (pair.name for pair in found.pairs)),
        column("Theirs", (f"{rps:,.0f}" for rps in theirs), unit="requests/s", is_number=True),
        column("", (_percent(rps, max(theirs)) for rps in theirs), unit="% of best", is_number=True),
        column("Ours", (f"{rps:,.0f}" for rps in ours), unit="requests/s", is_number=True),
        column("", (_percent(rps, max(ours)) for rps in ours), unit="% of best", is_number=True),
        column("Place", (f"{before} → {after}" for before, after in found.places), is_number=True),
    ]


def _percent(part: float, whole: float) -> str:
    return f"{100 * part / whole:.1f}" if whole else ""


def _method(theirs: RunAndTrials, ours: RunAndTrials) -> Iterator[str]:
    pairs = [
        ("machine", *(run.environment.cpu_model for run, _ in (theirs, ours))),
        ("kernel", *(run.environment.kernel for run, _ in (theirs, ours))),
        ("load generator", *(_distinct(trial.plan.load_generator for trial in trials) for _, trials in (theirs, ours))),
        ("rounds", *(f"{1 + max((trial.plan.round for trial in trials), default=0)}" for _, trials in (theirs, ours))),
        ("loads", *(_distinct(_load(trial.plan.load) for trial in trials) for _, trials in (theirs, ours))),
    ]
    yield from (f"{name}: theirs {before}; ours {after}" for name, before, after in pairs if before != after)
    yield "Each number is from the target's best load. Published results have no interval."


def _load(load: Load) -> str:
    return f"{' '.join(filter(None, load_options(load)))} -d {load.duration_s:g}s"


def _distinct(texts: Iterator[str]) -> str:
    return ", ".join(dict.fromkeys(texts))
