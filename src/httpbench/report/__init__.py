"""Results as text, pages and charts, made from the store alone.

To add a format, write a function that turns a run and its trials into text, and add it to ``FORMATS``. The command line reads its exports
from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from httpbench.analysis.changes import Changes, changes
from httpbench.analysis.gates import gated
from httpbench.analysis.history import FIGURES as HISTORY_FIGURES
from httpbench.analysis.history import Series, histories
from httpbench.model import Run, Trial
from httpbench.report.data.autocannon import render_autocannon
from httpbench.report.data.changes import render_changes_json, render_changes_junit
from httpbench.report.data.csv import render_csv
from httpbench.report.data.hyperfine import render_hyperfine
from httpbench.report.data.json import render_json
from httpbench.report.data.junit import render_junit
from httpbench.report.data.openmetrics import render_openmetrics
from httpbench.report.data.read_json import read_export
from httpbench.report.html import render_changes_html, render_html
from httpbench.report.markdown.changes import render_changes_markdown
from httpbench.report.markdown.run import render_markdown
from httpbench.report.markdown.targets import render_targets, render_versions
from httpbench.report.terminal.changes import NAMES as CHANGE_COLUMNS
from httpbench.report.terminal.changes import render_changes
from httpbench.report.terminal.evidence import render_evidence
from httpbench.report.terminal.grid import Cells, column, fitted, names_column
from httpbench.report.terminal.history import render_history
from httpbench.report.terminal.published import render_beside
from httpbench.report.terminal.run import render_terminal
from httpbench.report.words.changes import mismatches_text
from httpbench.report.words.chosen import View
from httpbench.report.words.chosen import names as column_names
from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
from httpbench.report.words.gates import gate_sentence
from httpbench.report.words.targets import (
    HERE,
    NOT_VERIFIED,
    UNKNOWN,
    probe_lines,
    probe_table,
    probe_warning,
    proof_words,
    render_responses,
)

__all__ = [
    "CHANGE_COLUMNS",
    "CHANGE_FORMATS",
    "CLIENT_FORMATS",
    "FORMATS",
    "HERE",
    "HISTORY_FIGURES",
    "NOT_VERIFIED",
    "SEARCH_COLUMNS",
    "UNKNOWN",
    "Cells",
    "Changes",
    "Format",
    "Series",
    "View",
    "changes",
    "column",
    "column_names",
    "fitted",
    "gate_sentence",
    "gated",
    "histories",
    "mismatches_text",
    "names_column",
    "probe_lines",
    "probe_table",
    "probe_warning",
    "proof_words",
    "read_export",
    "render_beside",
    "render_changes",
    "render_changes_html",
    "render_changes_json",
    "render_changes_junit",
    "render_changes_markdown",
    "render_evidence",
    "render_history",
    "render_html",
    "render_json",
    "render_markdown",
    "render_responses",
    "render_targets",
    "render_terminal",
    "render_versions",
]

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
"""File formats by their names on the command line."""

CHANGE_FORMATS: Mapping[str, Callable[[Changes], str]] = {
    "json": render_changes_json,
    "markdown": render_changes_markdown,
    "html": render_changes_html,
    "junit": render_changes_junit,
}
"""Formats for the changes from one run to another."""

CLIENT_FORMATS: Mapping[str, Format] = {"hyperfine": render_hyperfine}
"""Formats for runs that contain only clients."""
