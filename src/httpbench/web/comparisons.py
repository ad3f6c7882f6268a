"""The page of two runs: what changed from one to the other."""

from __future__ import annotations

from httpbench.analysis.changes import Changes, Measured, changes
from httpbench.report.charts.changes import of_figure
from httpbench.report.charts.theme import svg_file
from httpbench.report.html.changes import summary
from httpbench.report.html.parts import Picture, Table
from httpbench.report.words.changes import TITLES, banner, notes, origin, table, verdict_changes
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page

FRAME_HEIGHT, ROW_HEIGHT = 90, 26


def comparison_page(frame: Frame, path: str, base: Measured, head: Measured) -> Page:
    found = changes(base, head)
    header, rows = table(found)
    context = {
        "title": f"Changes from {_name(base)} to {_name(head)}",
        "origin": [origin("base", found.base), origin("head", found.head)],
        "base": base[0].id,
        "head": head[0].id,
        "banner": list(banner(found)),
        "sentences": [*summary(found), *verdict_changes(found)],
        "changes": Table.of("Changes", header, rows),
        "figures": [_picture(found, name, path) for name in dict.fromkeys(name for cell in found.cells for name in cell.figures)],
        "notes": list(notes(found)),
    }
    return frame.page("comparison.html", path, context)


def comparison_chart(base: Measured, head: Measured, figure: str) -> Page:
    """Raises :class:`NotFound`."""
    drawing = of_figure(changes(base, head), figure)
    if drawing is None:
        raise NotFound(f"These runs have no figure «{figure}» in common.")
    return Page(svg_file(drawing), "image/svg+xml")


def _name(side: Measured) -> str:
    return side[0].name or side[0].id


def _picture(found: Changes, name: str, path: str) -> Picture:
    rows = sum(name in cell.figures for cell in found.cells)
    address = addresses.root(path) + addresses.comparison_chart(found.base.run, found.head.run, name)
    return Picture(f"{TITLES.get(name, name)}: change from base to head", address, FRAME_HEIGHT + ROW_HEIGHT * rows)
