"""The answer of each table in one sentence, for the top of a page."""

from __future__ import annotations

from httpbench.model import Run
from httpbench.report.charts.drawing import figure_text
from httpbench.report.charts.drawing import label as short
from httpbench.report.charts.servers import estimate_of
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.claims import claims, label, times
from httpbench.report.within_run.compared_rows import ranking
from httpbench.stats.figures import SPEED, THROUGHPUT
from httpbench.stats.paired import compare


def answer(run: Run, group: Group) -> str:
    """Who is first and by how much; or what the rounds cannot show. With a baseline, the first comparison with it."""
    sentences = claims(run, group)
    if run.baseline is None and (found := _first_of_ranks(group)):
        return found
    if sentences:
        return sentences[0]
    return next((_only(row) for row in group.rows if row.counts), "No round is valid")


def _first_of_ranks(group: Group) -> str | None:
    """``None`` unless one target alone is first."""
    places = ranking(group)
    first = [name for name, place in places.items() if place == 1]
    others = sorted((place, name) for name, place in places.items() if place > 1)
    if len(first) != 1 or not others:
        return None
    rows = {row.target.id: row for row in group.rows}
    ours = rows[first[0]]
    theirs = next(row for row in group.rows if places.get(row.target.id) == others[0][0])
    figure = SPEED if group.client_work is not None else THROUGHPUT
    found = compare(figure.rounds(ours.trials), figure.rounds(theirs.trials), figure.resolution)
    if found is None:
        return None
    words = "is {} as fast as {}" if group.client_work is not None else "serves {} the requests of {}"
    return f"{label(ours)} {words.format(times(found), label(theirs))}, the next of {len(places)} ranked targets"


def _only(row: Row) -> str:
    """Of a table with one target."""
    client = row.summary.client
    if client is not None:
        return f"{short(row)}: {figure_text(client.median_s * 1000)} ms"
    estimate = estimate_of(row)
    return f"{short(row)}: {figure_text(estimate.median)} requests/s" if estimate and row.summary.load.rate_rps is None else short(row)
