"""The section of one table of a run: its answer, its charts, its figures, and what to consider with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from httpbench.analysis.compared import ranking
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run
from httpbench.report.charts.drawing import file_name, label
from httpbench.report.html.answer import answer
from httpbench.report.html.parts import Figure, Picture, Table, link, struck, verdict
from httpbench.report.words import notes
from httpbench.report.words.claims import claims
from httpbench.report.words.columns import Column, columns

NAMES = ("language", "framework", "variant", "server", "target")
"""Columns that name a target. A page has one column for that."""

VERDICT = "verdict"
"""The second column: a narrow screen shows it beside the name."""


@dataclass(frozen=True, slots=True)
class Section:
    anchor: str
    title: str
    method: str
    answer: str
    claims: Sequence[str]
    figures: Sequence[Figure | Picture]
    table: Table
    notes: Sequence[notes.RowNote]


def sections(run: Run, found: Sequence[Group], figures: Callable[[Group], Sequence[Figure | Picture]]) -> list[Section]:
    """One for each table, in order. ``figures``: the charts of a table."""
    every = columns(found, run.table)
    return [
        Section(
            anchor=f"table-{number}-{file_name(group)}",
            title=notes.title(group),
            method=notes.method(group),
            answer=answer(run, group),
            claims=claims(run, group),
            figures=figures(group),
            table=_table(group, every),
            notes=notes.row_notes(group),
        )
        for number, group in enumerate(found, 1)
    ]


def _table(group: Group, every: Sequence[Column]) -> Table:
    places = ranking(group)
    shown = [column for column in every if column.name not in (*NAMES, VERDICT)]
    (judged,) = [column for column in every if column.name == VERDICT]
    rows = [
        [
            link(row.target.id, label(row)),
            verdict(row.summary.verdict.kind, judged.shown(row)),
            str(places.get(row.target.id, "")),
            *(_cell(column, row) for column in shown),
        ]
        for row in group.rows
    ]
    return Table.of("All figures", ["Target", judged.title, "Rank", *(column.heading for column in shown)], rows)


def _cell(column: Column, row: Row) -> str | Markup:
    text = column.shown(row)
    return struck(text) if column.is_struck(row) else text
