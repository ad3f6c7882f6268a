"""A run on a terminal: its tables with the most important columns, and the answer below each table.

Tables are rich renderables, so the console decides whether to use color. It uses none if ``NO_COLOR`` is set or if the output isn't
a terminal. No information is conveyed by color alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from httpbench.analysis.compared import composite_of
from httpbench.analysis.groups import groups
from httpbench.analysis.profiles import Profiled, grown_in
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Search, Trial, VerdictKind
from httpbench.model import Table as RunTable
from httpbench.report.terminal.grid import GAP, NAME_MIN, Cells, brief_names, column, fitted, grid
from httpbench.report.words import ALWAYS, curves, loads, notes, profiles, tables
from httpbench.report.words.claims import answer, claims, unranked
from httpbench.report.words.columns import Column, View, chosen, chosen_overhead
from httpbench.report.words.numbers import column_name
from httpbench.report.words.run import heading, origin, precision, status
from httpbench.stats.level import Saturation, saturation

INDENT = 2
"""Indentation of continued lines and of logs."""

SEARCH_NEEDS = {"mean": 5, "p90": 4, "p99.9": 3, "max": 6}
"""How soon a narrow terminal omits a column of a search; see ``Column.need``."""

NOTE_MIN = 16
"""Minimum width of the column that contains notes, in characters."""

VERDICT_STYLES = {
    VerdictKind.TARGET: "green",
    VerdictKind.IDLE: "cyan",
    VerdictKind.UNKNOWN: "dim",
    VerdictKind.INVALID: "red",
    VerdictKind.FAILED: "red",
}
"""Styles of verdicts. All other verdicts are yellow."""


def render_terminal(run: Run, trials: Sequence[Trial], *, width: int, view: View | None = None) -> RenderableType:
    """Render the tables of a run. If no round counts, all notes are shown regardless of ``view``."""
    view = view or View()
    if run.search:
        return _search(run, run.search, trials, width, view)
    found = groups(run, trials)
    explains = view.explain or not any(row.counts for group in found for row in group.rows)
    parts: list[RenderableType] = [] if view.explain else [_line(heading(run)), Text()]
    shown: set[notes.RowNote] = set()
    grown = grown_in(run) if explains or not run.gates else []  # of targets that breached a gate, the gate's sentence says it
    for group in found:
        parts += [*_table(group, chosen(found, group, run.table, view), width), *_overhead(group, run, width, view)]
        if (mix := tables.parts(group)).rows:
            parts += [Text(), *_text_table(tables.PARTS, mix, width)]
        changes = list(profiles.changes_in(run, grown, group))
        parts += [*(_explained(run, group, shown) if explains else _summed_up(run, group)), *_claims(changes), Text()]
    if composite := composite_of(trials):
        parts += _text_table(tables.COMPOSITE, tables.composite_table(composite), width, tables.composite_note(composite))
    parts += [*_claims(precision(run, trials)), Text()] if run.precision else []
    if explains:
        parts += _profiles(run, found, width)
        parts += [_paragraph(Text(line, style="dim")) for line in notes.legend(found, run.table)]
        below = origin(run, trials) if view.explain else origin(run, trials)[1:]  # the heading has the run's id
        parts += [Text(line, style="dim") for line in below]
    else:
        parts += [_line(text) for text in notes.brief_notes(run, trials, found, view.source)]
        parts += [_line(profiles.WHERE_FROM)] if run.profiles else []
    return Stack(*parts)


def _summed_up(run: Run, group: Group) -> Iterator[RenderableType]:
    """Yield the answer of a table, then the rows that have no rank, with reasons."""
    yield from _claims(answer(run, group))
    if reasons := unranked(group):
        yield _line(reasons)


def _explained(run: Run, group: Group, shown: set[notes.RowNote]) -> Iterator[RenderableType]:
    """Yield the notes of each row, then all claims. Notes in ``shown`` are not repeated."""
    new = [note for note in notes.row_notes(group) if note not in shown]
    shown.update(new)
    if new:
        yield Text()
    for note in new:
        yield from _row_note(note)
    yield from _claims(claims(run, group))


def _table(group: Group, columns: Sequence[Column], width: int) -> Iterator[RenderableType]:
    yield Text(loads.title(group), style="bold")
    yield Text(loads.method(group), style="dim")
    yield Text()
    yield from _columns(columns, group.rows, width)


def _overhead(group: Group, run: Run, width: int, view: View) -> Iterator[RenderableType]:
    table = tables.overhead_table(group, run.baseline) if run.table is RunTable.TCP_PROXIES else None
    if table is None:
        return
    columns, rows = table
    yield from (Text(), Text(tables.OVERHEAD, style="bold"), Text())
    yield from _columns(chosen_overhead(columns, view), rows, width)
    if view.explain:
        yield _paragraph(Text(tables.OVERHEAD_MEANING, style="dim"))


def _text_table(title: str, table: tables.TextTable, width: int, note: str = "") -> Iterator[RenderableType]:
    yield from (Text(title, style="bold"), Text(), grid(_text_columns(table), width))
    if note:
        yield from (Text(), _paragraph(Text(note, style="dim")), Text())


def _text_columns(table: tables.TextTable) -> list[Cells]:
    return [
        column(heading, [row[index] for row in table.rows], unit=unit, is_number=table.is_number[index])
        for index, (heading, unit) in enumerate(table.columns)
    ]


def _profiles(run: Run, found: Sequence[Group], width: int) -> Iterator[RenderableType]:
    """Yield the functions of each profile, with the overhead of the profiler."""
    for profiled in map(Profiled, run.profiles):
        table = profiles.functions(profiled)
        yield Text(f"Functions of {profiles.place_text(run, profiled)}", style="bold")
        yield Text(profiles.method(profiled), style="dim")
        if not table.rows:
            yield from (Text(profiles.EMPTY), Text())
            continue
        names, *others = _text_columns(table)
        space = width - sum(cells.width + GAP for cells in others)
        yield from (Text(), grid([names.cut(max(space, NAME_MIN)), *others], width), Text())
        yield Text(f"By area: {profiles.shares(profiled)}")
        if overhead := profiles.overhead_text(profiled, found):
            yield Text(overhead)
        yield Text()
    if run.profiles:
        yield from (_paragraph(Text(line, style="dim")) for line in profiles.TABLE_MEANING)


def _columns(columns: Sequence[Column], rows: Sequence[Row], width: int) -> Iterator[RenderableType]:
    """Lay out a table, and list the columns that don't fit."""
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
        return Text(text, style=_verdict_style(row.summary.verdict.kind))
    if column.is_struck(row):
        return Text.assemble((text, "dim strike"))  # styling the whole cell would strike through the padding too
    if not row.counts:
        return Text(text, style="dim")
    return Text(text, style="bold" if column.is_headline else "")


def _verdict_style(kind: VerdictKind) -> str:
    return VERDICT_STYLES.get(kind, "yellow")


def _row_note(note: notes.RowNote) -> Iterator[RenderableType]:
    yield _paragraph(Text.assemble((note.id, "bold"), " ", (note.kind, _verdict_style(note.kind)), ": ", "; ".join(note.reasons)))
    if note.next_step:
        yield Padding(Text(f"hint: {note.next_step}", style="bold", overflow="fold"), (0, 0, 0, INDENT), expand=False)
    for line in note.log:
        yield Padding(Text(f"│ {line}", style="dim", no_wrap=True, overflow="ellipsis"), (0, 0, 0, INDENT), expand=False)


def _line(text: str) -> Text:
    """Return one line that is cut off at the width of the terminal."""
    return Text(text, style="dim", no_wrap=True, overflow="ellipsis")


def _paragraph(text: Text) -> RenderableType:
    """Return a paragraph with a hanging indent."""
    table = Table.grid(padding=0)
    table.add_column(width=INDENT, no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row("· ", text)
    return table


def _search(run: Run, search: Search, trials: Sequence[Trial], width: int, view: View) -> RenderableType:
    """Render a search for the highest rate: the curve drawn with characters, the table of rates, and the result."""
    result = saturation(search, trials)
    parts: list[RenderableType] = [] if view.explain else [_line(heading(run)), Text()]
    parts += [Text(curves.title(run, trials), style="bold"), Text(curves.method(search, trials), style="dim"), Text()]
    parts += [Text(line, no_wrap=True) for line in curves.curve(search, result, width)]
    parts += [Text(), *fitted(_search_columns(search, result, view), width), Text()]
    parts += [Text(line, style="bold", overflow="fold") for line in curves.sentences(search, result, trials, run.status)]
    if run.profiles:
        parts += [Text(), *_profiles(run, [], width)] if view.explain else [_line(profiles.WHERE_FROM)]
    below = origin(run, trials) if view.explain else list(status(run, trials))
    return Stack(*parts, Text(), *(Text(line, style="dim") for line in below))


def _search_columns(search: Search, result: Saturation, view: View) -> list[Cells]:
    """Return the columns that the user chose. The default is the usual columns and those that the service level mentions."""
    figures = curves.figures(search, view.names)
    table = curves.table(result, figures)
    every = ("rps", "held", *map(column_name, figures), "note")
    texts = {name: [row[index] for row in table.rows] for index, name in enumerate(every)}
    headings = dict(zip(every, table.columns, strict=True))
    usual = {"rps", "held", "p50", "p99", *(column_name(bound.figure) for bound in search.level.bounds), "note"}
    shown = every if view.wide else view.names or [name for name in every if name in usual]
    needs = {name: ALWAYS if name in view.names else SEARCH_NEEDS.get(name, ALWAYS) for name in shown}
    return [
        column("", texts[name], needs[name], folds_at=NOTE_MIN)
        if name == "note"
        else column(headings[name][0], texts[name], needs[name], unit=headings[name][1], is_number=True)
        for name in shown
    ]
