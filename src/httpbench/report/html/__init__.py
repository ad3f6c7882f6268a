"""A run as one HTML file that opens from disk, makes no requests and runs no scripts except that of flame graphs.

Charts are SVG, drawn when the file is written. Everything that a reader can change (visible lines, light or dark colors, open tables)
uses only CSS. The Content-Security-Policy can therefore forbid all scripts, so nothing that a target sends can run as a script. If the run
has profiles, it allows the one script that zooms flame graphs, by its hash.
"""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.analysis.audit import Audit
from httpbench.analysis.changes import Changes
from httpbench.model import Run, Trial
from httpbench.report.charts import check_charts


def check_html() -> None:
    """Raise :class:`UsageError` if the extra ``charts`` is not installed. Verbs call this function before they measure anything."""
    check_charts("HTML reports")


def render_html(run: Run, trials: Sequence[Trial]) -> str:
    """Render the page of a run. Raise :class:`UsageError` if the extra ``charts`` is not installed."""
    check_html()
    from httpbench.report.html.run import render

    return render(run, trials)


def render_changes_html(found: Changes) -> str:
    """Render the page of a comparison of two runs. Raise :class:`UsageError` if the extra ``charts`` is not installed."""
    check_html()
    from httpbench.report.html.changes import render

    return render(found)


def render_audit_html(found: Audit) -> str:
    """Render the page of an audit. Raise :class:`UsageError` if the extra ``charts`` is not installed."""
    check_html()
    from httpbench.report.html.audit import render

    return render(found)
