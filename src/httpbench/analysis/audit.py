"""An audit of figures: which of them can't be true, and which mean less than they say.

The audit uses nothing but the stored figures, so it works for published results, of which nothing else is known. A rule that needs a figure
that a row doesn't have skips this row.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from httpbench.analysis.audit_rules import IMPOSSIBLE, ROW_RULES, SAME_ROWS_MIN, SAME_SHARE_MIN, AuditCase, AuditedRow, AuditRule
from httpbench.model import Load, Run, Trial, VerdictKind
from httpbench.stats.summary import cells

CLUSTER_WIDTH, CLUSTER_ROWS_MIN, CLUSTER_ABOVE_MAX, CLUSTER_DENSITY_MIN = 0.015, 8, 0.02, 5.0
"""A cluster: at least 8 rows within 1.5% of each other, with at most 2% of the rows above them, and five times as dense as the rows in the
next four intervals of the same width below. Rows in each of these intervals count as half a row more."""
CLUSTER_NEIGHBORS = 4
CLUSTER_LANGUAGES_MIN = 3
"""Minimum number of languages in a cluster. Variants of one framework can be equally fast."""

REPEATED = (("db", "query-1"),)
"""Pairs of published workloads in which a target does the same work."""
REPEATS_MIN = 20
"""Minimum number of rows measured twice from which to tell how much measurements differ."""
ALIKE_ROWS_MIN = 5
"""Minimum number of rows that differ from the best one by less than repeated measurements do."""

BEST_OF = {"httparena": "scripts/benchmark.sh"}
"""The file in the repository of each project that chooses the best of several measurements."""

NOT_LIMITED_BY_TARGET = (
    VerdictKind.GENERATOR,
    VerdictKind.BOTH,
    VerdictKind.SHARED,
    VerdictKind.BACKEND,
    VerdictKind.DATABASE,
    VerdictKind.NETWORK,
    VerdictKind.IDLE,
)
"""Verdicts that already say that something other than the target limited a row."""


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """What a rule found in one table."""

    rule: AuditRule
    workload: str
    load: Load
    rows: tuple[AuditedRow, ...]
    """The rows that the rule found, the clearest first."""
    examined: int
    """Number of rows of the table that have the figures that the rule needs."""
    data: Mapping[str, float] = field(default_factory=dict)
    """Figures of the table as a whole."""

    @property
    def is_impossible(self) -> bool:
        """Whether the figures can't be true."""
        return self.rule in IMPOSSIBLE


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings in all tables of a run."""

    run: Run
    tables: int
    rows: int
    findings: tuple[AuditFinding, ...]
    """Ordered by rule, with the most rows first."""
    best_of: str | None
    """File that shows that the published figures are the best of several measurements. ``None``: not known to be so."""

    @property
    def rules(self) -> dict[AuditRule, tuple[AuditFinding, ...]]:
        """The findings of each rule that found something."""
        return {rule: found for rule in AuditRule if (found := tuple(finding for finding in self.findings if finding.rule is rule))}


def audit(run: Run, trials: Sequence[Trial]) -> Audit:
    """Audit the trials that count. Trials of clients have no throughput, so no rule applies to them."""
    tables: dict[tuple[str, Load], list[AuditCase]] = {}
    for cell in cells(trials):
        for trial in cell:
            if trial.verdict.counts and trial.measurement is not None:
                is_average = run.published is not None and bool(run.workloads[trial.plan.workload].parts)
                row = AuditCase(trial, is_published=run.published is not None, is_average=is_average)
                tables.setdefault((trial.plan.workload, trial.plan.load), []).append(row)
    findings = [finding for (workload, load), rows in tables.items() for finding in _findings(workload, load, rows)]
    if run.published:
        findings += _not_told_apart(tables)
    order = list(AuditRule)
    return Audit(
        run=run,
        tables=len(tables),
        rows=sum(len({row.target for row in rows}) for rows in tables.values()),
        findings=tuple(sorted(findings, key=lambda found: (order.index(found.rule), -len(found.rows)))),
        best_of=BEST_OF.get(run.published) if run.published else None,
    )


def _findings(workload: str, load: Load, rows: Sequence[AuditCase]) -> Iterator[AuditFinding]:
    for rule, examine in ROW_RULES.items():
        examined: dict[str, AuditedRow] = {}
        for row in rows:
            examination = examine(row)
            if examination is not None and (examination.figures or row.target not in examined):
                examined[row.target] = examination
        found = sorted((row for row in examined.values() if row.figures), key=lambda row: -row.clarity)
        least = max(SAME_ROWS_MIN, SAME_SHARE_MIN * len(examined)) if rule in (AuditRule.P99_IS_MEAN, AuditRule.P99_IS_MAX) else 1
        if len(found) >= least:
            yield AuditFinding(rule, workload, load, tuple(found), len(examined))
    yield from _clustered(workload, load, rows)


# --- rules for tables -------------------------------------------------------------------------------------------------------------


def _clustered(workload: str, load: Load, rows: Sequence[AuditCase]) -> Iterator[AuditFinding]:
    """Find rows that are equally fast because something that they share limits them, such as the load generator or the network."""
    if load.rate_rps is not None:
        return
    unexplained = [row for row in rows if row.rps > 0 and row.trial.verdict.kind not in NOT_LIMITED_BY_TARGET]
    best = {row.target: row for row in sorted(unexplained, key=lambda row: row.rps)}
    ordered = sorted(best.values(), key=lambda row: -row.rps)
    largest: list[AuditCase] = []
    for row in ordered[: int(CLUSTER_ABOVE_MAX * len(ordered)) + 1]:
        within = [other for other in ordered if _steps_below(row, other) == 0]
        near = sum(0 < _steps_below(row, other) <= CLUSTER_NEIGHBORS for other in ordered)
        is_dense = len(within) >= CLUSTER_DENSITY_MIN * (near / CLUSTER_NEIGHBORS + 0.5)
        languages = {other.target.split("/")[0] for other in within}
        if len(within) >= max(CLUSTER_ROWS_MIN, len(largest) + 1) and is_dense and len(languages) >= CLUSTER_LANGUAGES_MIN:
            largest = within
    if largest:
        found = tuple(AuditedRow(row.target, {"throughput_rps": row.rps}) for row in largest)
        limits = {"throughput_rps_min": largest[-1].rps, "throughput_rps_max": largest[0].rps}
        yield AuditFinding(AuditRule.CLUSTERED, workload, load, found, len(ordered), limits)


def _steps_below(upper: AuditCase, row: AuditCase) -> int:
    """Return how many whole widths of a cluster a row is slower than another; negative if it is faster."""
    return math.floor((math.log(upper.rps) - math.log(row.rps)) / math.log1p(CLUSTER_WIDTH))


def _not_told_apart(tables: Mapping[tuple[str, Load], Sequence[AuditCase]]) -> Iterator[AuditFinding]:
    """Find tables whose best rows differ by less than two measurements of the same work."""
    differences = list(_repeats(tables))
    if len(differences) < REPEATS_MIN:
        return
    noise = statistics.median(differences)
    for (workload, load), rows in tables.items():
        ordered = sorted((row for row in rows if row.rps > 0), key=lambda row: -row.rps)
        alike = [row for row in ordered if math.log(ordered[0].rps / row.rps) <= noise]
        if len(alike) >= ALIKE_ROWS_MIN:
            found = tuple(AuditedRow(row.target, {"throughput_rps": row.rps}) for row in alike)
            data = {"repeated_difference": math.expm1(noise), "repeats": float(len(differences))}
            yield AuditFinding(AuditRule.NOT_TOLD_APART, workload, load, found, len(ordered), data)


def _repeats(tables: Mapping[tuple[str, Load], Sequence[AuditCase]]) -> Iterator[float]:
    """Yield by how much two measurements of the same work differ, as logarithms of their ratio."""
    for one, other in REPEATED:
        for (workload, load), rows in tables.items():
            again = {row.target: row.rps for row in tables.get((other, load), ())} if workload == one else {}
            yield from (abs(math.log(row.rps / again[row.target])) for row in rows if row.rps and again.get(row.target))
