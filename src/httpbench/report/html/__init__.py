"""A run as one HTML file: it opens from disk, makes no request, and runs no script.

Charts are SVG, drawn when the file is written. What a reader can choose (which lines are shown, light or dark, which tables are open)
is CSS, so the page's Content-Security-Policy forbids scripts altogether: nothing that a target sent can become one.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence

from httpbench.analysis.changes import Changes
from httpbench.model import Run, Trial
from httpbench.report.charts import check_charts

PAGE = "httpbench.report.html.run"
CHANGES = "httpbench.report.html.changes"
"""Modules, loaded when a page is made: altair takes a second to load."""


def check_html() -> None:
    """Raises :class:`UsageError` where the extra «charts» is not installed: checked before a run, not after it."""
    check_charts("HTML reports")


def render_html(run: Run, trials: Sequence[Trial]) -> str:
    """The page. Ends with a line break. Raises as :func:`check_html` does."""
    check_html()
    text: str = importlib.import_module(PAGE).render(run, trials)
    return text


def render_changes_html(found: Changes) -> str:
    """The page of a comparison of two runs. As :func:`render_html`."""
    check_html()
    text: str = importlib.import_module(CHANGES).render(found)
    return text
