"""The gates between two runs as JUnit XML."""

from __future__ import annotations

from httpbench.analysis.changes import Changes
from httpbench.report.data.junit import GATES, Suite, document, gate_case
from httpbench.report.words.changes import gate_sentence


def render_changes_junit(found: Changes) -> str:
    """A case for each gate at each target. Ends with a line break."""
    cases = [gate_case(f"{judged.gate} {judged.place}", judged.passage, gate_sentence(found, judged)) for judged in found.gates]
    return document([Suite(GATES, cases)], found.head.started_at, {"base": found.base.run, "head": found.head.run})
