"""The page of a run: its answers, a section for each table and target, its notes, and the JSON export."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from httpbench.analysis.compared import composite_of, ranking
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Trial
from httpbench.report.charts import search as search_charts
from httpbench.report.charts import servers
from httpbench.report.charts.drawing import file_name
from httpbench.report.charts.drawing import label as short
from httpbench.report.charts.run import of_group
from httpbench.report.html import targets
from httpbench.report.html.download import download
from httpbench.report.html.parts import HtmlFigure, HtmlTable, Picture, link, struck, verdict
from httpbench.report.html.profiles import of_run, render_with_profiles
from httpbench.report.words import curves, loads, notes, tables
from httpbench.report.words.claims import answer as answer_lines
from httpbench.report.words.claims import claims, names_fastest, unranked
from httpbench.report.words.columns import Column, columns
from httpbench.report.words.numbers import figure_text, rank_text
from httpbench.report.words.run import machine, origin, precision, title
from httpbench.stats.level import saturation

NAMES = ("language", "framework", "variant", "server", "target")
"""Columns that identify a target. A page shows a single column in place of all of them."""

VERDICT = "verdict"
"""Column that a page moves to second place, so that narrow screens show it next to the name."""


def render(run: Run, trials: Sequence[Trial]) -> str:
    """Render the page. The same run always produces the same page."""
    found = groups(run, trials)
    search = search_of(run, trials, [HtmlFigure.of(drawing) for drawing in search_charts.of_search(run, trials).values()])
    parts = results(run, trials, found, search, lambda group: [HtmlFigure.of(drawing) for _, drawing in of_group(run, group)])
    page = {
        **parts,
        "title": title(run, trials),
        "figures": [] if search else [HtmlFigure.of(drawing, drawing.place) for _, drawing in servers.over_connections(found)],
        "targets": targets.sections(run, found),
        "origin": origin(run, trials),
        "machine": list(machine(run)),
        "versions": versions(run),
        "download": download(run, trials),
    }
    return render_with_profiles("page.html", page, of_run(run, found))


def results(
    run: Run,
    trials: Sequence[Trial],
    found: Sequence[Group],
    search: dict[str, Any] | None,
    figures: Callable[[Group], Sequence[HtmlFigure | Picture]],
) -> dict[str, Any]:
    """Return the results in the form that the template expects. ``figures`` draws the charts of a table."""
    sections = [] if search else _sections(run, found, figures)
    answers = [(section["anchor"], section["title"], section["answer"]) for section in sections]
    if search:
        answers = [("saturation", search["title"], search["sentences"][0])]
    return {
        "answers": answers,
        "search": search,
        "sections": sections,
        "composite": None if search else _composite(trials),
        "legend": [] if search else notes.legend(found, run.table),
        "precision": precision(run, trials),
    }


def search_of(run: Run, trials: Sequence[Trial], figures: Sequence[HtmlFigure | Picture]) -> dict[str, Any] | None:
    """Return the section of a search, or ``None`` if the run is not a search or has no trials."""
    if run.search is None or not trials:
        return None
    found = saturation(run.search, trials)
    table = curves.table(found, curves.figures(run.search))
    return {
        "title": curves.title(run, trials),
        "method": curves.method(run.search, trials),
        "sentences": curves.sentences(run.search, found, trials, run.status),
        "figures": figures,
        "table": HtmlTable.of("Rates", table.headings, table.rows),
    }


def versions(run: Run) -> HtmlTable:
    """Return a table of toolchains and libraries."""
    found = run.environment.versions
    return HtmlTable.of("Versions", ["Name", "Version"], [[name, " ".join(version.split())] for name, version in sorted(found.items())])


def _sections(run: Run, found: Sequence[Group], figures: Callable[[Group], Sequence[HtmlFigure | Picture]]) -> list[dict[str, Any]]:
    """Return a section for each table, with its answer, charts and notes."""
    every = columns(found, run.table)
    return [
        {
            "anchor": f"table-{number}-{file_name(group)}",
            "title": loads.title(group),
            "method": loads.method(group),
            "answer": answer(run, group),
            "claims": claims(run, group),
            "figures": figures(group),
            "table": _table(group, every),
            "notes": notes.row_notes(group),
        }
        for number, group in enumerate(found, 1)
    ]


def answer(run: Run, group: Group) -> str:
    """Return the first line of a table's answer or, if that line only names the fastest target, the first two lines.

    If the table has no answer, return why some rows have no rank. If there is no such reason, return the result of the first valid row.
    """
    lines = [line.strip() for line in answer_lines(run, group)]
    if lines:
        return " ".join(lines[:2]) if names_fastest(run, group) else lines[0]
    return unranked(group) or next((_only(group, row) for row in group.rows if row.counts), "No round is valid")


def _only(group: Group, row: Row) -> str:
    client = row.summary.client
    if client is not None:
        return f"{short(row)}: {figure_text(client.median_s * 1000)} ms"
    if row.summary.ready_s is not None:
        return f"{short(row)}: ready after {figure_text(row.summary.ready_s.median * 1000)} ms"
    estimate = row.summary.throughput_rps
    if estimate is None or group.load.rate_rps is not None:
        return short(row)
    return f"{short(row)}: {figure_text(estimate.median)} {loads.throughput_unit(group)}"


def _composite(trials: Sequence[Trial]) -> dict[str, Any] | None:
    found = composite_of(trials)
    if found is None:
        return None
    scores = tables.composite_table(found)
    table = HtmlTable.of("Score of each target", scores.headings, scores.rows)
    return {"title": tables.COMPOSITE, "note": tables.composite_note(found), "table": table}


def _table(group: Group, every: Sequence[Column]) -> HtmlTable:
    places = ranking(group)
    shown = [column for column in every if column.name not in (*NAMES, VERDICT)]
    (judged,) = [column for column in every if column.name == VERDICT]
    rows = [
        [
            link(row.target.id, short(row)),
            verdict(row.summary.verdict.kind, judged.shown(row)),
            rank_text(places[row.target.id]) if row.target.id in places else "",
            *(struck(column.shown(row)) if column.is_struck(row) else column.shown(row) for column in shown),
        ]
        for row in group.rows
    ]
    return HtmlTable.of("All figures", ["Target", judged.title, "Rank", *(column.heading for column in shown)], rows)
