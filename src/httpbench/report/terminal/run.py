"""Tables for a terminal: the figures that a choice depends on, and the result below them. ``View`` asks for more.

Made of rich's parts, so that the console decides on colour (``NO_COLOR``, no terminal). Nothing is said by colour alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Trial, VerdictKind
from httpbench.model import Table as RunTable
from httpbench.report.terminal.grid import Cells, brief_names, column, fitted, grid
from httpbench.report.terminal.search import render_search
from httpbench.report.words import brief, notes
from httpbench.report.words.answer import answer
from httpbench.report.words.chosen import View, chosen, chosen_overhead
from httpbench.report.words.claims import claims, precision, unranked
from httpbench.report.words.columns import Column
from httpbench.report.words.composite import COLUMNS, composite_note, composite_of, composite_rows
from httpbench.report.words.composite import TITLE as TITLE_OF_COMPOSITE
from httpbench.report.words.overhead import MEANING, TITLE, overhead_table
from httpbench.report.words.parts import COLUMNS as PART_COLUMNS
from httpbench.report.words.parts import TITLE as TITLE_OF_PARTS
from httpbench.report.words.parts import WORDS, part_rows

INDENT = 2
"""Of continued lines and of logs below a table."""

VERDICT_STYLES = {
    VerdictKind.TARGET: "green",
    VerdictKind.GENERATOR: "yellow",
    VerdictKind.BOTH: "yellow",
    VerdictKind.SHARED: "yellow",
    VerdictKind.BACKEND: "yellow",
    VerdictKind.DATABASE: "yellow",
    VerdictKind.NETWORK: "yellow",
    VerdictKind.IDLE: "cyan",
    VerdictKind.UNKNOWN: "dim",
    VerdictKind.DISTURBED: "yellow",
    VerdictKind.INVALID: "red",
    VerdictKind.FAILED: "red",
}


def render_terminal(run: Run, trials: Sequence[Trial], *, width: int, view: View | None = None) -> RenderableType:
    """The tables of a run, for a console of ``width`` columns. Without any figures all notes are shown, whatever ``view`` says."""
    view = view or View()
    if run.search:
        return render_search(run, trials, width, view)
    found = groups(run, trials)
    explains = view.explain or not any(row.counts for group in found for row in group.rows)
    parts: list[RenderableType] = [] if explains else [_line(brief.heading(run)), Text()]
    said: set[notes.RowNote] = set()
    for group in found:
        parts += [*_table(group, chosen(found, group, run.table, view), width), *_overhead(group, run, width, view)]
        parts += _parts(group, width)
        parts += [*_explained(run, group, said), Text()] if explains else [*_summed_up(run, group), Text()]
    parts += _composite(trials, width)
    parts += [*_claims(precision(run, trials)), Text()] if run.precision else []
    if explains:
        parts += [_paragraph(Text(line, style="dim")) for line in notes.legend(found, run.table)]
        parts += [Text(line, style="dim") for line in notes.origin(run, trials)]
    else:
        parts += [_line(text) for text in brief.brief_notes(run, trials, found)]
    return Stack(*parts)


def _summed_up(run: Run, group: Group) -> Iterator[RenderableType]:
    """The result of a table, and which rows are not ranked."""
    yield from _claims(answer(run, group))
    if reasons := unranked(group):
        yield _line(reasons)


def _explained(run: Run, group: Group, said: set[notes.RowNote]) -> Iterator[RenderableType]:
    """The notes of each row, and everything that is claimed. ``said``: notes of earlier tables, which are not repeated."""
    new = [note for note in notes.row_notes(group) if note not in said]
    said.update(new)
    if new:
        yield Text()
    for note in new:
        yield from _row_note(note)
    yield from _claims(claims(run, group))


def _table(group: Group, columns: Sequence[Column], width: int) -> Iterator[RenderableType]:
    yield Text(notes.title(group), style="bold")
    yield Text(notes.method(group), style="dim")
    yield Text()
    yield from _columns(columns, group.rows, width)


def _overhead(group: Group, run: Run, width: int, view: View) -> Iterator[RenderableType]:
    table = overhead_table(group, run.baseline) if run.table is RunTable.TCP_PROXIES else None
    if table is None:
        return
    yield Text()
    yield Text(TITLE, style="bold")
    yield Text()
    yield from _columns(chosen_overhead(table.columns, view), table.rows, width)
    if view.explain:
        yield _paragraph(Text(MEANING, style="dim"))


def _parts(group: Group, width: int) -> Iterator[RenderableType]:
    """What each request of a mix took."""
    if rows := part_rows(group):
        yield Text()
        yield Text(TITLE_OF_PARTS, style="bold")
        yield Text()
        yield _plain_grid(PART_COLUMNS, rows, words=WORDS, width=width)


def _plain_grid(columns: Sequence[tuple[str, str]], rows: Sequence[tuple[str, ...]], *, words: int, width: int) -> Table:
    """A table of texts, the first columns of which are ``words``. ``columns``: titles and units."""
    filled = zip(columns, zip(*rows, strict=True), strict=True)
    return grid([column(title, texts, unit=unit, is_number=place >= words) for place, ((title, unit), texts) in enumerate(filled)], width)


def _composite(trials: Sequence[Trial], width: int) -> Iterator[RenderableType]:
    """The composite ranking, if the run has several of TechEmpower's tests."""
    found = composite_of(trials)
    if found is None:
        return
    yield Text(TITLE_OF_COMPOSITE, style="bold")
    yield Text()
    yield _plain_grid([(title, "") for title in COLUMNS], composite_rows(found), words=1, width=width)
    yield Text()
    yield _paragraph(Text(composite_note(found), style="dim"))
    yield Text()


def _columns(columns: Sequence[Column], rows: Sequence[Row], width: int) -> Iterator[RenderableType]:
    """A table, and which of its columns the terminal is too narrow for."""
    yield from fitted([_cells(column, rows) for column in columns], width, " Use a wider terminal or --export-markdown -.")


def _cells(column: Column, rows: Sequence[Row]) -> Cells:
    texts = [_cell(column, row) for row in rows]
    return Cells(
        title=column.title,
        unit=column.unit,
        texts=texts,
        need=column.need,
        is_number=column.is_number,
        short=column.short,
        names=brief_names([text.plain for text in texts]) if column.is_name else (),
        lengths=[column.length(row) for row in rows] if column.length else (),
    )


def _claims(sentences: Sequence[str]) -> Iterator[RenderableType]:
    if sentences:
        yield Text()
    for sentence in sentences:
        yield Text(sentence, style="bold", overflow="fold")


def _cell(column: Column, row: Row) -> Text:
    text = column.shown(row)
    if column.name == "verdict":
        return Text(text, style=VERDICT_STYLES[row.summary.verdict.kind])
    if column.is_struck(row):
        return Text.assemble((text, "dim strike"))  # the padding is not struck
    if not row.counts:
        return Text(text, style="dim")
    return Text(text, style="bold" if column.is_headline else "")


def _row_note(note: notes.RowNote) -> Iterator[RenderableType]:
    yield _paragraph(Text.assemble((note.id, "bold"), " ", (note.kind, VERDICT_STYLES[note.kind]), ": ", "; ".join(note.reasons)))
    if note.next_step:
        yield Padding(Text(f"hint: {note.next_step}", style="bold", overflow="fold"), (0, 0, 0, INDENT), expand=False)
    for line in note.log:
        yield Padding(Text(f"│ {line}", style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, INDENT), expand=False)


def _line(text: str) -> Text:
    """One line, cut at the width of the terminal."""
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


def _paragraph(text: Text) -> RenderableType:
    """A paragraph whose lines after the first are indented, so that each of several begins visibly."""
    table = Table.grid(padding=0)
    table.add_column(width=INDENT, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("· ", text)
    return table
