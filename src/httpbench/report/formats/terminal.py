"""Tables for a terminal: as many columns as fit, the least needed ones left out first and named below the table.

Made of rich's parts, so that the console decides on colour (``NO_COLOR``, no terminal). Nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from httpbench.model import Run, Search, Trial, VerdictKind
from httpbench.model import Table as RunTable
from httpbench.report.tables import curves, notes
from httpbench.report.tables.columns import ALWAYS, Column, columns
from httpbench.report.tables.groups import groups
from httpbench.report.tables.overhead import MEANING, TITLE, overhead_table
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.claims import claims, precision
from httpbench.stats.level import saturation

GAP = 2
"""Spaces between columns."""

INDENT = 2
"""Of continued lines and of logs below a table."""

VERDICT_STYLES = {
    VerdictKind.TARGET: "green",
    VerdictKind.GENERATOR: "yellow",
    VerdictKind.BOTH: "yellow",
    VerdictKind.SHARED: "yellow",
    VerdictKind.BACKEND: "yellow",
    VerdictKind.NETWORK: "yellow",
    VerdictKind.IDLE: "cyan",
    VerdictKind.UNKNOWN: "dim",
    VerdictKind.DISTURBED: "yellow",
    VerdictKind.INVALID: "red",
    VerdictKind.FAILED: "red",
}


def render_terminal(run: Run, trials: Sequence[Trial], *, width: int) -> RenderableType:
    """The tables of a run, for a console of ``width`` columns."""
    if run.search:
        return _search(run.search, run, trials, width)
    found = groups(run, trials)
    every = columns(found, run.table)
    parts: list[RenderableType] = []
    for group in found:
        parts += [*_table(group, every, width), *_overhead(group, run, width), *_claims(claims(run, group)), Text()]
    parts += [*_claims(precision(run, trials)), Text()] if run.precision else []
    parts += [_paragraph(Text(line, style="dim")) for line in notes.legend(found, run.table)]
    parts += [Text(line, style="dim") for line in notes.origin(run, trials)]
    return Stack(*parts)


def _search(search: Search, run: Run, trials: Sequence[Trial], width: int) -> RenderableType:
    """The curve, the rates that count, and the result."""
    result = saturation(search, trials)
    parts: list[RenderableType] = [Text(curves.title(run, trials), style="bold"), Text(curves.method(search, trials), style="dim"), Text()]
    parts += [Text(line, no_wrap=True) for line in curves.curve(search, result, width)]
    header, rows = curves.table(search, result)
    grid = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for index, title in enumerate(header):
        grid.add_column(title, justify="left" if index == len(header) - 1 else "right", overflow="fold")
    for row in rows:
        grid.add_row(*(Text(cell) for cell in row))
    parts += [Text(), grid, *_claims(curves.sentences(search, result, trials)), Text()]
    parts += [Text(line, style="dim") for line in notes.origin(run, trials)]
    return Stack(*parts)


def _table(group: Group, every: Sequence[Column], width: int) -> Iterator[RenderableType]:
    shown, left_out = fit(every, group.rows, width)
    yield Text(notes.title(group), style="bold")
    yield Text(notes.method(group), style="dim")
    yield Text()
    yield _grid(shown, group.rows)
    row_notes = notes.row_notes(group)
    if row_notes or left_out:
        yield Text()
    for note in row_notes:
        yield from _row_note(note)
    if left_out:
        names = ", ".join(column.title for column in left_out)
        yield _paragraph(Text(f"Not shown at this width: {names}. Use a wider terminal or --export-markdown -.", style="dim"))


def _overhead(group: Group, run: Run, width: int) -> Iterator[RenderableType]:
    table = overhead_table(group, run.baseline) if run.table is RunTable.TCP_PROXIES else None
    if table is None:
        return
    shown, left_out = fit(table.columns, table.rows, width)
    yield Text()
    yield Text(TITLE, style="bold")
    yield Text()
    yield _grid(shown, table.rows)
    yield _paragraph(Text(MEANING, style="dim"))
    if left_out:
        yield _paragraph(Text(f"Not shown at this width: {', '.join(column.title for column in left_out)}.", style="dim"))


def _claims(sentences: Sequence[str]) -> Iterator[RenderableType]:
    if sentences:
        yield Text()
    for sentence in sentences:
        yield Text(sentence, style="bold", overflow="fold")


def fit(all_columns: Sequence[Column], rows: Sequence[Row], width: int) -> tuple[list[Column], list[Column]]:
    """Columns that fit side by side, and those that are left out because they do not fit. Columns without any content are neither."""
    widths = {column.title: _column_width(column, rows) for column in all_columns}
    shown = [column for column in all_columns if any(column.shown(row) for row in rows)]
    left_out: list[Column] = []
    while sum(widths[column.title] + GAP for column in shown) - GAP > width:
        least = max(shown, key=lambda column: column.need)
        if least.need == ALWAYS:
            break  # narrower than the least that makes sense: cells are folded
        shown.remove(least)
        left_out.append(least)
    return shown, [column for column in all_columns if column in left_out]


def _column_width(column: Column, rows: Sequence[Row]) -> int:
    return max(cell_len(text) for text in (column.title, column.unit, *(column.shown(row) for row in rows)))


def _grid(shown: Sequence[Column], rows: Sequence[Row]) -> Table:
    grid = Table(box=None, padding=(0, GAP, 0, 0), pad_edge=False, header_style="bold")
    for column in shown:
        header = Text(column.title)
        if any(other.unit for other in shown):
            header.append(f"\n{column.unit}", style="not bold dim")
        grid.add_column(header, justify="right" if column.is_number else "left", overflow="fold")
    for row in rows:
        grid.add_row(*(_cell(column, row) for column in shown))
    return grid


def _cell(column: Column, row: Row) -> Text:
    text = column.shown(row)
    if column.title == "Verdict":
        return Text(text, style=VERDICT_STYLES[row.summary.verdict.kind])
    if not row.counts:
        return Text.assemble((text, "dim strike" if column.is_struck(row) else "dim"))  # the padding is not struck
    return Text(text, style="bold" if column.is_headline else "")


def _row_note(note: notes.RowNote) -> Iterator[RenderableType]:
    yield _paragraph(Text.assemble((note.id, "bold"), " ", (note.kind, VERDICT_STYLES[note.kind]), ": ", "; ".join(note.reasons)))
    if note.next_step:
        yield Padding(Text(f"hint: {note.next_step}", style="bold", overflow="fold"), (0, 0, 0, INDENT), expand=False)
    for line in note.log:
        yield Padding(Text(f"│ {line}", style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, INDENT), expand=False)


def _paragraph(text: Text) -> RenderableType:
    """A paragraph whose lines after the first are indented, so that each of several begins visibly."""
    grid = Table.grid(padding=0)
    grid.add_column(width=INDENT, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row("· ", text)
    return grid
