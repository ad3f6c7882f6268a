"""Results as text and charts, made from what is stored alone.

A new format is a function from a run and its trials to text, and a line in ``FORMATS``: the command line's exports come from there.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from httpbench.model import Run, Trial
from httpbench.report.between_runs.changes import Changes, changes, render_changes_json
from httpbench.report.between_runs.text import render_changes, render_changes_markdown
from httpbench.report.formats.autocannon import render_autocannon
from httpbench.report.formats.csv import render_csv
from httpbench.report.formats.hyperfine import render_hyperfine
from httpbench.report.formats.json import render_json
from httpbench.report.formats.markdown import render_markdown
from httpbench.report.formats.read_json import read_export
from httpbench.report.formats.terminal import render_terminal
from httpbench.report.html import render_changes_html, render_html
from httpbench.report.responses import render_responses
from httpbench.report.tables.evidence import render_evidence
from httpbench.report.tables.probes import probe_lines, probe_table, probe_warning
from httpbench.report.tables.proofs import HERE, NOT_VERIFIED, proof_words
from httpbench.report.tables.targets import render_targets
from httpbench.report.tables.versions import render_versions
from httpbench.report.within_run.gates import gated

__all__ = [
    "CLIENT_FORMATS",
    "FORMATS",
    "HERE",
    "NOT_VERIFIED",
    "Changes",
    "Format",
    "changes",
    "gated",
    "probe_lines",
    "probe_table",
    "probe_warning",
    "proof_words",
    "read_export",
    "render_changes",
    "render_changes_html",
    "render_changes_json",
    "render_changes_markdown",
    "render_evidence",
    "render_html",
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
}
"""Those that go into files, by the name that the command line has for them."""

CLIENT_FORMATS: Mapping[str, Format] = {"hyperfine": render_hyperfine}
"""Those of runs with clients alone."""
