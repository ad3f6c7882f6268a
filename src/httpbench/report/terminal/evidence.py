"""The facts behind each verdict on a terminal, with one table per load and one line per trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.evidence import known
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial
from httpbench.report.terminal.grid import GAP, Cells, column, grid
from httpbench.report.words.evidence import CLIENT_COLUMNS, CLIENT_LEGEND, COLUMNS, LEGEND, NAMES, WORDS, client_lines
from httpbench.report.words.loads import title


def render_evidence(run: Run, trials: Sequence[Trial], *, width: int) -> RenderableType:
    """Render a table for each load of a run, with a line for each measured trial. Empty columns are omitted."""
    found = groups(run, trials)
    parts = [part for group in found for part in _section(group, width)]
    legend = CLIENT_LEGEND if all(group.client_work for group in found) else LEGEND
    return Stack(*parts, *(Text(f"· {line}", style="dim") for line in legend))


def _section(group: Group, width: int) -> Iterator[RenderableType]:
    yield Text(title(group), style="bold")
    if group.client_work is not None:
        yield grid(_clients(group), width)
    elif lines := known(group.rows):
        columns = [column(name, [text(line) for line in lines], is_number=name not in WORDS) for name, text in COLUMNS]
        yield from _folded([each for each in columns if each.is_filled], width)
    else:
        yield Text("no trial was measured")
    yield Text()


def _clients(group: Group) -> list[Cells]:
    words = ("Target", "Verdict", "Run")
    titles = [*words, "Round", *(name for name, _ in CLIENT_COLUMNS)]
    lines = [
        [trial.plan.target, str(trial.verdict.kind), name, str(trial.plan.round + 1), *counts]
        for row in group.rows
        for trial in row.trials
        if trial.client
        for name, counts in client_lines(trial)
    ]
    return [column(name, [line[index] for line in lines], is_number=name not in words) for index, name in enumerate(titles)]


def _folded(columns: Sequence[Cells], width: int) -> Iterator[RenderableType]:
    """Yield a table that continues below if its columns don't fit. Each part repeats the columns that identify a trial."""
    names = [each for each in columns if each.title in NAMES]
    part = names.copy()
    for each in columns[len(names) :]:
        if len(part) > len(names) and sum(cells.width + GAP for cells in (*part, each)) - GAP > width:
            yield from (grid(part, width), Text())
            part = names.copy()
        part.append(each)
    yield grid(part, width)
