"""The page of an audit."""

from __future__ import annotations

from httpbench.analysis.audit import Audit
from httpbench.report.html.parts import HtmlTable
from httpbench.report.html.shell import render as render_page
from httpbench.report.words import audit as words


def render(found: Audit) -> str:
    """Render the page."""
    sections = [
        (title, [(rule, HtmlTable.of(rule.total, words.HEADER, rule.cells)) for rule in rules]) for title, rules in words.sections(found)
    ]
    page = {
        "title": "Audit",
        "origin": [words.heading(found)],
        "conclusion": words.conclusion(found),
        "remarks": words.remarks(found),
        "sections": sections,
    }
    return render_page("audit.html", page)
