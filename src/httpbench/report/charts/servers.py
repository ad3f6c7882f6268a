"""Charts of servers: throughput with intervals, latency percentiles, and requests/s by connections.

A dot or a line shows medians over rounds, and a whisker shows a 95% interval. Each small dot is a single round, so that readers see the
noise. The axis of the ranking doesn't start at zero, because readers compare positions on it instead of lengths.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.model import Run
from httpbench.report.charts.drawing import HEIGHT, SHAPES, WIDTH, Drawing, data, distinct, ends, folded, label, slug, whisker, wide
from httpbench.report.words import loads
from httpbench.report.words.numbers import figure_text
from httpbench.stats.figures import P99, THROUGHPUT, Figure
from httpbench.stats.histogram import percentile_curve_us

ROW_HEIGHT = 24
BELOW = 8
"""Distance in pixels from the dot of a median down to the dots of its rounds, so that they don't overlap the median."""

ROUNDS = "dot: median over rounds · whisker: 95% interval · small dots below: rounds"
REPORTED = (25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
"""Percentiles that charts show if the load generator keeps no histogram."""
BY_CONNECTIONS = "line: median over rounds · whisker: 95% interval · small dots: rounds"
CORRECT = "Throughput (requests/s)"
_PERCENTILES = alt.Axis(
    values=[1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000],
    labelExpr="round(1e7 - 1e7 / datum.value) / 1e5 + '%'",
    grid=True,
)


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the charts of a table, each with its kind."""
    if ranking := _ranking(group):
        yield "ranking", ranking
    if percentiles := _percentiles(group):
        yield "percentiles", percentiles


def over_connections(found: Sequence[Group]) -> Iterator[tuple[str, Drawing]]:
    """Yield a chart of requests/s by connections, with its name, for each set of loads that differ only in connections."""
    alike: dict[tuple[object, ...], list[Group]] = {}
    for group in found:
        if group.load.rate_rps is None and group.client_work is None:
            others = group.load.model_copy(update={"connections": 1})
            alike.setdefault((group.scaling, group.workload, group.load_generator, others), []).append(group)
    for several in alike.values():
        if len(several) > 1:
            first = several[0]
            name = slug([first.workload, str(first.scaling), first.load_generator])
            yield name, _by_connections(sorted(several, key=lambda group: group.load.connections))


def figure_of(group: Group) -> tuple[Figure, str, float]:
    """Return the metric by which rows are ordered, its title and its divisor: throughput, or p99 if the load has a rate."""
    return (THROUGHPUT, CORRECT, 1.0) if group.load.rate_rps is None else (P99, "p99 (ms)", 1000.0)


def _ranking(group: Group) -> Drawing | None:
    figure, title, unit = figure_of(group)
    rows = [(row, estimate) for row in group.rows if row.counts and (estimate := row.headline) is not None]
    if not rows:
        return None
    medians = [
        {"target": label(row), "verdict": str(row.summary.verdict.kind), **whisker(estimate.median, estimate.interval, unit)}
        for row, estimate in rows
    ]
    rounds = {label(row): [value / unit for value in figure.rounds(row.trials).values()] for row, _ in rows}
    points = [{"target": name, "round": value} for name, values in rounds.items() for value in values]
    kinds = list(dict.fromkeys(row.summary.verdict.kind for row, _ in rows))
    target = alt.Y("target:N", title=None, sort=[label(row) for row, _ in rows], axis=alt.Axis(ticks=False, domain=False, labelLimit=200))
    shapes = alt.Scale(domain=list(map(str, kinds)), range=[SHAPES[kind] for kind in kinds])
    shape = alt.Shape("verdict:N", title=None, scale=shapes, legend=alt.Legend(orient="top"))
    scale = alt.Scale(zero=False, nice=True, padding=12)
    x = {channel: alt.X(f"{channel}:Q", title=title, scale=scale) for channel in ("value", "low", "round")}
    base = alt.Chart(data(medians)).encode(y=target)
    whiskers = base.mark_rule(strokeWidth=2).encode(x=x["low"], x2="high:Q")
    dots = alt.Chart(data(points)).mark_point(filled=True, size=14, opacity=0.7, yOffset=BELOW).encode(x=x["round"], y=target)
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(x=x["value"], shape=shape)
    return Drawing(
        title=f"{title.partition(' (')[0]} of each target",
        notes=(*folded(loads.title(group)), ROUNDS),
        chart=alt.layer(whiskers, dots, marks).properties(width=WIDTH, height=ROW_HEIGHT * len(rows)),
        header=("Target", title, "95% from", "to", "Rounds", "Verdict"),
        rows=tuple(
            (
                label(row),
                figure_text(estimate.median / unit),
                *ends(estimate.interval, unit),
                " · ".join(map(figure_text, rounds[label(row)])),
                str(row.summary.verdict.kind),
            )
            for row, estimate in rows
        ),
    )


def _percentiles(group: Group) -> Drawing | None:
    curves = {label(row): curve for row in group.rows if (curve := _curve(row))}
    if not curves:
        return None
    points = [(percentile, name, us / 1000) for name, curve in curves.items() for percentile, us in curve]
    names = list(curves)
    ordered = sorted(points, key=lambda point: point[0])
    header, rows = wide("Latency (ms)", names, ((f"p{percentile:g}", name, ms) for percentile, name, ms in ordered))
    lines = (
        alt.Chart(data({"target": name, "beyond": 1 / (1 - percentile / 100), "ms": ms} for percentile, name, ms in points))
        .mark_line(strokeWidth=1.7)
        .encode(
            x=alt.X("beyond:Q", title="percentile", scale=alt.Scale(type="log", nice=False), axis=_PERCENTILES),
            y=alt.Y("ms:Q", title="latency (ms)", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=5)),
            **distinct("target", names),
        )
        .properties(width=WIDTH, height=2 * HEIGHT)
    )
    times = "response time" if group.load.rate_rps is not None else "service time"
    note = f"{times} of all rounds together; ends at the percentile that ten samples exceed"
    return Drawing("Latency by percentile", (*folded(loads.title(group)), note), lines, header, rows, tuple(names))


def _curve(row: Row) -> list[tuple[float, float]]:
    """Return percentiles and their values in µs. Without histograms, these are the percentiles that the load generator reported."""
    counting = [trial.measurement for trial in row.trials if trial.verdict.counts and trial.measurement]
    if curve := percentile_curve_us([measurement.times_us for measurement in counting]):
        return curve
    estimates = {percentile: getattr(row.latency, f"p{percentile:g}".replace(".", "_"), None) for percentile in REPORTED}
    return [(percentile, estimate.median) for percentile, estimate in estimates.items() if estimate is not None]


def _by_connections(found: Sequence[Group]) -> Drawing:
    cells = [
        (group.load.connections, row, estimate)
        for group in found
        for row in group.rows
        if row.counts and (estimate := row.summary.throughput_rps) is not None
    ]
    names = list(dict.fromkeys(label(row) for _, row, _ in cells))
    medians = [
        {"connections": number, "target": label(row), **whisker(estimate.median, estimate.interval)} for number, row, estimate in cells
    ]
    points = [
        {"connections": number, "target": label(row), "round": value}
        for number, row, _ in cells
        for value in THROUGHPUT.rounds(row.trials).values()
    ]
    numbers = [group.load.connections for group in found]
    looks = distinct("target", names)
    x = alt.X("connections:O", title="connections", sort=numbers, axis=alt.Axis(labelAngle=0, grid=False))
    base = alt.Chart(data(medians)).encode(x=x, color=looks["color"])
    y = alt.Y("value:Q", title=CORRECT, axis=alt.Axis(format="~s"))
    lines = base.mark_line(strokeWidth=1.7).encode(y=y, strokeDash=looks["strokeDash"])
    whiskers = base.mark_rule(strokeWidth=1.7).encode(y=alt.Y("low:Q", title=CORRECT), y2="high:Q")
    dots = alt.Chart(data(points)).mark_point(filled=True, size=14, opacity=0.7)
    rounds = dots.encode(x=x, color=looks["color"], y=alt.Y("round:Q", title=CORRECT))
    header, rows = wide("Connections", names, ((f"{number:,}", label(row), estimate.median) for number, row, estimate in cells))
    drawn: Any = alt.layer(lines, whiskers, rounds).properties(width=WIDTH, height=2 * HEIGHT)
    return Drawing("Requests/s by connections", (loads.setup(found[0]), BY_CONNECTIONS), drawn, header, rows, tuple(names))
