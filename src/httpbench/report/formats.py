"""All file formats by their names on the command line."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from httpbench.analysis.audit import Audit
from httpbench.analysis.changes import Changes
from httpbench.model import Run, Trial
from httpbench.report.data.audit import render_audit_json
from httpbench.report.data.autocannon import render_autocannon
from httpbench.report.data.changes import render_changes_json, render_changes_junit
from httpbench.report.data.csv import render_csv
from httpbench.report.data.hyperfine import render_hyperfine
from httpbench.report.data.json import render_json
from httpbench.report.data.junit import render_junit
from httpbench.report.data.openmetrics import render_openmetrics
from httpbench.report.html import render_audit_html, render_changes_html, render_html
from httpbench.report.markdown.audit import render_audit_markdown
from httpbench.report.markdown.changes import render_changes_markdown
from httpbench.report.markdown.run import render_markdown

Format = Callable[[Run, Sequence[Trial]], str]

FORMATS: Mapping[str, Format] = {
    "json": render_json,
    "csv": render_csv,
    "markdown": render_markdown,
    "html": render_html,
    "autocannon": render_autocannon,
    "junit": render_junit,
    "openmetrics": render_openmetrics,
}
"""Formats for runs."""

CHANGE_FORMATS: Mapping[str, Callable[[Changes], str]] = {
    "json": render_changes_json,
    "markdown": render_changes_markdown,
    "html": render_changes_html,
    "junit": render_changes_junit,
}
"""Formats for the changes from one run to another."""

AUDIT_FORMATS: Mapping[str, Callable[[Audit], str]] = {
    "json": render_audit_json,
    "markdown": render_audit_markdown,
    "html": render_audit_html,
}
"""Formats for the findings of an audit."""

CLIENT_FORMATS: Mapping[str, Format] = {"hyperfine": render_hyperfine}
"""Formats for runs that contain only clients."""
