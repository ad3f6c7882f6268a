"""The findings of an audit as JSON in the schema ``httpbench-audit/1``."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from httpbench.analysis.audit import Audit
from httpbench.analysis.audit_rules import AuditRule
from httpbench.model import Frozen, Load
from httpbench.report.words.audit import MEANINGS, TITLES, remarks


class ExportedFindingRow(Frozen):
    """A row that a rule found."""

    target: str
    figures: dict[str, float]
    """The figures that the rule compared, with their units in the name."""


class ExportedFinding(Frozen):
    """What a rule found in one table."""

    rule: AuditRule
    title: str
    meaning: str
    """The rule and its reason, as sentences."""
    impossible: bool
    """Whether the figures can't be true. Otherwise, they mean less than they say."""
    workload: str
    load: Load
    examined: int
    """Number of rows that have the figures that the rule compares."""
    rows: tuple[ExportedFindingRow, ...]
    """The rows that the rule found, the clearest first."""
    data: dict[str, float]
    """Figures of the table as a whole."""


class AuditDocument(Frozen):
    """An audit of a run."""

    schema_: Literal["httpbench-audit/1"] = Field(default="httpbench-audit/1", alias="schema")
    run: str
    published: str | None
    """Project that published the results. Null: measured by httpbench."""
    tables: int
    rows: int
    """Number of rows in all tables."""
    remarks: tuple[str, ...]
    """Remarks on the run as a whole."""
    findings: tuple[ExportedFinding, ...]


def render_audit_json(found: Audit) -> str:
    """Render the findings as JSON. The text ends with a line break."""
    findings = tuple(
        ExportedFinding(
            rule=finding.rule,
            title=TITLES[finding.rule],
            meaning=MEANINGS[finding.rule],
            impossible=finding.is_impossible,
            workload=finding.workload,
            load=finding.load,
            examined=finding.examined,
            rows=tuple(ExportedFindingRow(target=row.target, figures=dict(row.figures)) for row in finding.rows),
            data=dict(finding.data),
        )
        for finding in found.findings
    )
    document = AuditDocument(
        run=found.run.id,
        published=found.run.published,
        tables=found.tables,
        rows=found.rows,
        remarks=tuple(remarks(found)),
        findings=findings,
    )
    return document.model_dump_json(indent=2, by_alias=True) + "\n"
