"""The page of a comparison of two runs: before and after with intervals, the largest change first."""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.analysis.changes import Changes, load_text
from httpbench.report.charts.changes import of_figure
from httpbench.report.html.parts import Figure, Table
from httpbench.report.html.shell import render as render_page
from httpbench.report.words.changes import banner, gate_sentences, notes, origin, verdict, verdict_changes


def render(found: Changes) -> str:
    """Ends with a line break."""
    figures = dict.fromkeys(name for cell in found.cells for name in cell.figures)
    drawings = (of_figure(found, name) for name in figures)
    sentences = [*gate_sentences(found), *verdict_changes(found)]
    page = {
        "title": f"Changes from {found.base.name or found.base.run} to {found.head.name or found.head.run}",
        "origin": [origin("base", found.base), origin("head", found.head)],
        "banner": list(banner(found)),
        "sentences": sentences if found.gates else [*summary(found), *sentences],
        "figures": [Figure.of(drawing) for drawing in drawings if drawing],
        "verdicts": Table.of(
            "Verdicts", ["Target", "Load", "Verdict"], [[cell.target, load_text(cell), verdict(cell)] for cell in found.cells]
        ),
        "notes": list(notes(found)),
    }
    return render_page("changes.html", page)


def summary(found: Changes) -> Iterator[str]:
    """Without gates: how many changes are significant."""
    changed = [change for cell in found.cells for change in cell.figures.values() if change.differs]
    every = sum(len(cell.figures) for cell in found.cells)
    yield f"{len(changed)} of {every} figures changed significantly" if every else "Nothing can be compared"
