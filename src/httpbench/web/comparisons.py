"""The page that compares two runs."""

from __future__ import annotations

from httpbench.analysis.changes import Changes, RunAndTrials, changes
from httpbench.report.charts.changes import chart_title, of_figure
from httpbench.report.charts.theme import svg_file
from httpbench.report.html.parts import HtmlTable, Picture
from httpbench.report.words.changes import banner, heading, notes, origins, significant, table, verdict_changes
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page

FRAME_HEIGHT, ROW_HEIGHT = 90, 26


def comparison_page(frame: Frame, path: str, base: RunAndTrials, head: RunAndTrials) -> Page:
    """Make the page that compares two runs."""
    found = changes(base, head)
    header, rows = table(found)
    context = {
        "title": heading(found),
        "origin": origins(found),
        "base": base[0].id,
        "head": head[0].id,
        "banner": list(banner(found)),
        "sentences": [significant(found), *verdict_changes(found)],
        "changes": HtmlTable.of("Changes", header, rows),
        "figures": [_picture(found, name, path) for name in found.figures],
        "notes": list(notes(found)),
    }
    return frame.page("comparison.html", path, context)


def comparison_chart(base: RunAndTrials, head: RunAndTrials, figure: str) -> Page:
    """Draw the changes in one metric. Raises :class:`NotFound` if no cell has that metric in both runs."""
    drawing = of_figure(changes(base, head), figure)
    if drawing is None:
        raise NotFound(f'These runs have no figure "{figure}" in common.')
    return Page(svg_file(drawing), "image/svg+xml")


def _picture(found: Changes, name: str, path: str) -> Picture:
    rows = sum(name in cell.figures for cell in found.cells)
    address = addresses.root(path) + addresses.comparison_chart(found.base.run, found.head.run, name)
    return Picture(chart_title(name), address, FRAME_HEIGHT + ROW_HEIGHT * rows)
