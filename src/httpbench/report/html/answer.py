"""The answer of each table in one sentence, for the top of a page."""

from __future__ import annotations

from httpbench.analysis.rows import Group, Row
from httpbench.model import Run
from httpbench.report.charts.drawing import figure_text
from httpbench.report.charts.drawing import label as short
from httpbench.report.charts.servers import estimate_of
from httpbench.report.words.answer import answer as result
from httpbench.report.words.claims import unranked


def answer(run: Run, group: Group) -> str:
    """The first sentence of the result that a terminal shows; of a table without one, why, or its only figure."""
    lines = [line.strip() for line in result(run, group)]
    if lines:
        return " ".join(lines[:2]) if group.client_work is not None else lines[0]
    return unranked(group) or next((_only(row) for row in group.rows if row.counts), "No round is valid")


def _only(row: Row) -> str:
    """Of a table with one target."""
    client = row.summary.client
    if client is not None:
        return f"{short(row)}: {figure_text(client.median_s * 1000)} ms"
    estimate = estimate_of(row)
    return f"{short(row)}: {figure_text(estimate.median)} requests/s" if estimate and row.summary.load.rate_rps is None else short(row)
