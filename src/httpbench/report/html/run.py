"""The page of a run, put together: its answer, its sections, and the run itself as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from httpbench.analysis.groups import groups
from httpbench.model import Run, Trial
from httpbench.model import Table as RunTable
from httpbench.report.charts import search as saturation
from httpbench.report.charts import servers
from httpbench.report.charts.run import of_group
from httpbench.report.html import composite, machine, targets
from httpbench.report.html import groups as tables
from httpbench.report.html.download import download
from httpbench.report.html.parts import Figure, Picture, Table
from httpbench.report.html.shell import render as render_page
from httpbench.report.words import curves, notes
from httpbench.report.words.claims import precision
from httpbench.stats.level import saturation as level_of

NAMED_MAX = 3
"""Targets that a title names."""


def render(run: Run, trials: Sequence[Trial]) -> str:
    """Ends with a line break. The same run gives the same page."""
    found = groups(run, trials)
    search = search_of(run, trials, [Figure.of(drawing) for drawing in saturation.of_search(run, trials).values()])
    sections = [] if search else tables.sections(run, found, lambda group: [Figure.of(drawing) for _, drawing in of_group(run, group)])
    figures = [] if search else [Figure.of(drawing) for _, drawing in servers.over_connections(found)]
    page = {
        "title": title(run, trials),
        "answers": answers(sections, search),
        "sections": sections,
        "search": search,
        "composite": None if search else composite.section(trials),
        "figures": figures,
        "targets": targets.sections(run, found),
        "legend": [] if search else notes.legend(found, run.table),
        "precision": precision(run, trials),
        "origin": notes.origin(run, trials),
        "machine": machine.facts(run),
        "versions": machine.versions(run),
        "download": download(run, trials),
    }
    return render_page("page.html", page)


def title(run: Run, trials: Sequence[Trial]) -> str:
    """What was compared."""
    if run.name:
        return run.name
    measured = dict.fromkeys(trial.plan.target for trial in trials) or run.targets
    found = [run.targets[name] for name in measured if name != run.baseline or run.table is not RunTable.TCP_PROXIES]
    if len(found) <= NAMED_MAX:
        return ", ".join(target.id if target.is_declared else target.title for target in found)
    kinds = {target.kind.plural for target in found}
    return f"{len(found)} {kinds.pop() if len(kinds) == 1 else 'targets'}"


def answers(sections: Sequence[tables.Section], search: dict[str, Any] | None) -> list[tuple[str, str, str]]:
    """Anchor, title and sentence."""
    if search:
        return [("saturation", search["title"], search["sentences"][0])]
    return [(section.anchor, section.title, section.answer) for section in sections]


def search_of(run: Run, trials: Sequence[Trial], figures: Sequence[Figure | Picture]) -> dict[str, Any] | None:
    """What the page of a search shows. ``None`` for another run, and before its first trial."""
    if run.search is None or not trials:
        return None
    found = level_of(run.search, trials)
    header, rows = curves.table(run.search, found)
    return {
        "title": curves.title(run, trials),
        "method": curves.method(run.search, trials),
        "sentences": curves.sentences(run.search, found, trials),
        "figures": figures,
        "table": Table.of("Rates", [cell or "Why not" for cell in header], rows),
    }
