"""The findings of an audit: sentences, and cells of tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from httpbench.analysis.audit import Audit, AuditFinding
from httpbench.analysis.audit_rules import BACK_FILLED_MIN, FAILED_SHARE_MAX, IN_FLIGHT_MIN, SPREAD_MAX, AuditedRow, AuditRule
from httpbench.report.words.loads import load_options
from httpbench.report.words.numbers import figure_text, percentage, plural

IMPOSSIBLE_TITLE = "Figures that can't be true"
MISLEADING_TITLE = "Figures that mean less than they say"

TITLES = {
    AuditRule.TOO_MANY_IN_FLIGHT: "More requests in flight than the load allows",
    AuditRule.PERCENTILES_FALL: "Percentiles that fall, or negative times",
    AuditRule.P99_IS_MEAN: "A p99 that equals the mean",
    AuditRule.P99_IS_MAX: "A p99 that equals the maximum",
    AuditRule.COUNTS_DISAGREE: "Throughput, responses and duration that disagree",
    AuditRule.ERRORS_COUNTED: "Failed responses counted as throughput",
    AuditRule.MANY_FAILED: "Rows with many failed requests among the others",
    AuditRule.ERRORS_UNKNOWN: "Unknown numbers of failed requests",
    AuditRule.TOO_FEW_IN_FLIGHT: "Fewer requests in flight than the load says",
    AuditRule.BACK_FILLED: "Latencies that the load generator made up",
    AuditRule.UNLIKE_AVERAGED: "Averages of unlike loads",
    AuditRule.CLUSTERED: "Rows at a common limit",
    AuditRule.NOT_TOLD_APART: "Rows that repeated measurements don't tell apart",
}

MEANINGS = {
    AuditRule.TOO_MANY_IN_FLIGHT: "By Little's law, throughput × mean latency is the mean number of requests in flight. "
    "A closed loop can't have more than connections × pipeline depth. If the mean isn't published, the percentiles bound it.",
    AuditRule.PERCENTILES_FALL: "A higher percentile can't be lower than a lower one, the mean lies between minimum and maximum, and no "
    "time is negative.",
    AuditRule.P99_IS_MEAN: "One row can have such a p99 by chance, but not half of a table. Something other than the p99 was published.",
    AuditRule.P99_IS_MAX: "One row can have such a p99 by chance, but not half of a table. Something other than the p99 was published.",
    AuditRule.COUNTS_DISAGREE: "Throughput is responses divided by duration. At least one of the three isn't what the table says.",
    AuditRule.ERRORS_COUNTED: "The throughput includes responses that failed. Failing is often faster than responding correctly.",
    AuditRule.MANY_FAILED: f"More than {FAILED_SHARE_MAX:.0%} of the requests failed, so the row did less work than the others.",
    AuditRule.ERRORS_UNKNOWN: "The results don't say how many requests failed, so errors may be part of the throughput.",
    AuditRule.TOO_FEW_IN_FLIGHT: "By Little's law, throughput × mean latency is the mean number of requests in flight. "
    f"It is below {IN_FLIGHT_MIN:.0%} of connections × pipeline depth: some connections were not served, were reopened, or waited "
    "for the load generator.",
    AuditRule.BACK_FILLED: "After a run, wrk adds a latency for each mean interval that a request took longer. "
    f"By Little's law, the published mean is more than {figure_text(BACK_FILLED_MIN)} times the mean that was measured.",
    AuditRule.UNLIKE_AVERAGED: "Each figure is the average of several loads. Throughput × mean latency exceeds the connections so far "
    f"that, by Little's law, the loads differ more than {figure_text(SPREAD_MAX)}-fold, or the load generator added latencies.",
    AuditRule.CLUSTERED: "Targets in several languages are equally fast, and few are faster or slightly slower. "
    "The limit is probably something that they share, such as the load generator or the network.",
    AuditRule.NOT_TOLD_APART: "Two tests of the same work (`db` and `query-1`) differ by more than this for half of the targets. "
    "The rows differ less from the best one, so their order isn't shown.",
}

BEST_OF = "Each figure is the best of several measurements ({file}), which is higher than a typical one by an unknown amount."


@dataclass(frozen=True, slots=True)
class RuleText:
    """What one rule found, as text."""

    title: str
    meaning: str
    total: str
    """In how many rows and tables: ``304 of 304 rows, 17 tables``."""
    findings: Sequence[AuditFinding]

    @property
    def cells(self) -> list[list[str]]:
        """For each table: its name, the rows, and the clearest example."""
        return [[place(found), f"{len(found.rows):,} of {found.examined:,}", example(found)] for found in self.findings]


HEADER = ("Table", "Rows", "Clearest example")


def heading(found: Audit) -> str:
    """Return what was audited."""
    source = f"published by {found.run.published}" if found.run.published else "measured by httpbench"
    return f"audit of run {found.run.id} · {source} · {plural(found.rows, 'row')} in {plural(found.tables, 'table')}"


def conclusion(found: Audit) -> str:
    """Say how many rules found something."""
    if not found.findings:
        return "No rule found anything."
    rules = found.rules.values()
    impossible = sum(findings[0].is_impossible for findings in rules)
    misleading = len(rules) - impossible
    counts = [(impossible, "can't be true"), (misleading, "mean less than they say")]
    return " ".join(f"{plural(count, 'rule')} found figures that {what}." for count, what in counts if count)


def remarks(found: Audit) -> list[str]:
    """Return remarks on the run as a whole."""
    return [BEST_OF.format(file=found.best_of)] if found.best_of else []


def sections(found: Audit) -> list[tuple[str, list[RuleText]]]:
    """Return the texts of all rules that found something, in two titled sections."""
    texts = {rule: _rule_text(rule, findings) for rule, findings in found.rules.items()}
    parts = [(IMPOSSIBLE_TITLE, True), (MISLEADING_TITLE, False)]
    named = [(title, [texts[rule] for rule, of in found.rules.items() if of[0].is_impossible is which]) for title, which in parts]
    return [(title, rules) for title, rules in named if rules]


def _rule_text(rule: AuditRule, findings: Sequence[AuditFinding]) -> RuleText:
    rows, examined = sum(len(found.rows) for found in findings), sum(found.examined for found in findings)
    total = f"{rows:,} of {plural(examined, 'row')} in {plural(len(findings), 'table')}"
    return RuleText(TITLES[rule], MEANINGS[rule], total, findings)


def place(found: AuditFinding) -> str:
    """Name a table by its workload and options: ``httparena-json -c 4096``, or ``mix of 3 -c 64``."""
    parts = found.workload.count(",") + 1
    return " ".join(filter(None, (f"mix of {parts}" if parts > 1 else found.workload, *load_options(found.load))))


def example(found: AuditFinding) -> str:
    """Describe the clearest row of a finding, or a table as a whole."""
    if found.rule is AuditRule.CLUSTERED:
        least, most = found.data["throughput_rps_min"], found.data["throughput_rps_max"]
        return f"{figure_text(least)} to {figure_text(most)} requests/s"
    if found.rule is AuditRule.NOT_TOLD_APART:
        return f"repeated tests differ by {percentage(found.data['repeated_difference'])}"
    row = found.rows[0]
    return f"{row.target}: {evidence(found.rule, row)}"


def evidence(rule: AuditRule, row: AuditedRow) -> str:
    """Describe the figures of one row that a rule found."""
    figures = row.figures
    if "in_flight" in figures:
        latency = "latency_us_mean" if "latency_us_mean" in figures else "latency_us_p99"
        rate = f"{figure_text(figures['throughput_rps'])}/s × {_time(figures[latency])}"
        return f"{rate} = {figure_text(figures['in_flight'])} in flight of {figures['in_flight_max']:,.0f}"
    if rule is AuditRule.COUNTS_DISAGREE:
        stated = f"{figure_text(figures['throughput_rps'])}/s for {figure_text(figures['duration_s'])} s"
        return f"{stated}, but {figures['responses']:,.0f} responses"
    if "failed_share" in figures:
        return f"{figure_text(figures['throughput_rps'])}/s, {percentage(figures['failed_share'])} failed"
    if latencies := _latencies(figures):
        return latencies
    return f"{figure_text(figures['throughput_rps'])}/s"


def _latencies(figures: Mapping[str, float]) -> str:
    found = [(name.removeprefix("latency_us_"), value) for name, value in figures.items() if name.startswith("latency_us_")]
    return ", ".join(f"{name.replace('_', '.')} {_time(value)}" for name, value in found)


def _time(value_us: float) -> str:
    if abs(value_us) >= 1e15:
        return f"{value_us / 1e6:.1e} s"
    return f"{figure_text(value_us / 1000)} ms"
