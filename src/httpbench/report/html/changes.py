"""The page of a comparison of two runs."""

from __future__ import annotations

from httpbench.analysis.changes import Changes
from httpbench.report.charts.changes import of_figure
from httpbench.report.html.parts import HtmlFigure, HtmlTable
from httpbench.report.html.profiles import of_changes, render_with_profiles
from httpbench.report.words.changes import banner, heading, notes, origins, significant, verdict_changes, verdict_text
from httpbench.report.words.gates import change_gate_sentences, other_growth_sentences
from httpbench.report.words.loads import load_text


def render(found: Changes) -> str:
    """Render the page."""
    drawings = (of_figure(found, name) for name in found.figures)
    sentences = [*change_gate_sentences(found), *verdict_changes(found), *other_growth_sentences(found)]
    page = {
        "title": heading(found),
        "origin": origins(found),
        "banner": list(banner(found)),
        "sentences": sentences if found.gates else [significant(found), *sentences],
        "figures": [HtmlFigure.of(drawing) for drawing in drawings if drawing],
        "verdicts": HtmlTable.of(
            "Verdicts", ["Target", "Load", "Verdict"], [[cell.target, load_text(cell), verdict_text(cell)] for cell in found.cells]
        ),
        "notes": list(notes(found)),
    }
    return render_with_profiles("changes.html", page, of_changes(found))
