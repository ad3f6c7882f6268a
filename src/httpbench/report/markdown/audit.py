"""The findings of an audit as Markdown."""

from __future__ import annotations

from httpbench.analysis.audit import Audit
from httpbench.report.markdown.parts import escape, pipe_table
from httpbench.report.words import audit as words
from httpbench.report.words.numbers import plural


def render_audit_markdown(found: Audit, level: int = 3, tables_max: int | None = None) -> str:
    """Render the findings, with headings of ``level`` and below. The text ends with a line break.

    ``tables_max`` is the maximum number of tables to list for each rule.
    """
    lines = [f"{'#' * level} {escape(words.heading(found))}", "", escape(words.conclusion(found)), ""]
    for remark in words.remarks(found):
        lines += [escape(remark), ""]
    for title, rules in words.sections(found):
        lines += [f"{'#' * (level + 1)} {title}", ""]
        for rule in rules:
            lines += [f"**{escape(rule.title)}**: {rule.total}. {rule.meaning}", ""]
            lines += [*pipe_table(words.HEADER, [False, True, False], rule.cells[:tables_max]), ""]
            if more := len(rule.cells[tables_max:] if tables_max else ()):
                lines += [f"{plural(more, 'more table')}.", ""]
    return "\n".join(lines).strip() + "\n"
