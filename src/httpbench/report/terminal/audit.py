"""The findings of an audit on a terminal."""

from __future__ import annotations

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.audit import Audit
from httpbench.report.terminal.grid import column, fitted
from httpbench.report.words import audit as words
from httpbench.report.words.numbers import plural

TABLES_MAX = 4
"""Maximum number of tables to show for each rule."""


def render_audit(found: Audit, *, width: int) -> RenderableType:
    """Render the findings for a console of ``width`` columns."""
    parts: list[RenderableType] = [Text(words.heading(found)), Text(words.conclusion(found), style="bold")]
    parts += [Text(remark) for remark in words.remarks(found)]
    for title, rules in words.sections(found):
        parts += [Text(), Text(title, style="bold underline")]
        for rule in rules:
            parts += [Text(), Text(f"{rule.title}: {rule.total}", style="bold"), Text(rule.meaning, style="dim")]
            names, rows, examples = zip(*rule.cells[:TABLES_MAX], strict=True)
            parts += fitted(
                [column(words.HEADER[0], names), column("Rows", rows, is_number=True), column(words.HEADER[2], examples)], width
            )
            if (more := len(rule.cells) - TABLES_MAX) > 0:
                parts.append(Text(f"{plural(more, 'more table')}: add --export-markdown -", style="dim"))
    return Stack(*parts)
