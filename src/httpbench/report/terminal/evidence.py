"""The facts behind each verdict on a terminal: one table per load, one line per trial."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.console import Group as Stack
from rich.table import Table
from rich.text import Text

from httpbench.analysis.evidence import client_rounds, known
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial
from httpbench.report.words.evidence import CLIENT_COLUMNS, CLIENT_LEGEND, COLUMNS, LEGEND, NAMES, WORDS, client_lines
from httpbench.report.words.loads import title

GAP = 2
"""Spaces between columns."""


def render_evidence(run: Run, trials: Sequence[Trial]) -> RenderableType:
    """Render a table for each load of a run, with a line for each measured trial. Empty columns are omitted."""
    found = groups(run, trials)
    parts = [part for group in found for part in _section(group)]
    legend = CLIENT_LEGEND if all(group.client_work for group in found) else LEGEND
    return Stack(*parts, *(Text(f"· {line}", style="dim") for line in legend))


def _section(group: Group) -> Iterator[RenderableType]:
    yield Text(title(group), style="bold")
    if group.client_work is not None:
        yield _clients(group)
    elif lines := known(group.rows):
        columns = [(heading, [text(line) for line in lines]) for heading, text in COLUMNS]
        yield _Lines([(heading, cells) for heading, cells in columns if any(cells)])
    else:
        yield Text("no trial was measured")
    yield Text()


def _clients(group: Group) -> Table:
    titles = ["Target", "Verdict", "Run", "Round", *(name for name, _ in CLIENT_COLUMNS)]
    lines = [
        [trial.plan.target, str(trial.verdict.kind), name, str(trial.plan.round + 1), *counts]
        for trial in client_rounds(group.rows)
        for name, counts in client_lines(trial)
    ]
    return _grid([(name, [line[index] for line in lines]) for index, name in enumerate(titles)], (*WORDS, "Run"))


@dataclass(frozen=True, slots=True)
class _Lines:
    """A table that continues below if its columns don't fit. Each part repeats the columns that identify a trial."""

    columns: list[tuple[str, list[str]]]

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        names = [column for column in self.columns if column[0] in NAMES]
        part = names.copy()
        for column in self.columns:
            if column in names:
                continue
            if len(part) > len(names) and sum(map(_width, [*part, column])) - GAP > options.max_width:
                yield _grid(part)
                yield Text()
                part = names.copy()
            part.append(column)
        yield _grid(part)


def _width(column: tuple[str, list[str]]) -> int:
    heading, cells = column
    return max(map(cell_len, (heading, *cells))) + GAP


def _grid(columns: Sequence[tuple[str, Sequence[str]]], words: Sequence[str] = WORDS) -> Table:
    table = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False)
    for heading, _ in columns:
        table.add_column(heading, justify="left" if heading in words else "right", overflow="fold")
    for row in zip(*(cells for _, cells in columns), strict=True):
        table.add_row(*map(Text, row))
    return table
