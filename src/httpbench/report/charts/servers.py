"""Charts of servers: throughput with intervals, latency percentiles, and requests/s by connections.

A dot or a line shows medians over rounds, and a whisker shows a 95% interval. Each small dot is a single round, so that readers see the
noise. More than a few lines aren't drawn in one plot, but each in its own panel, in front of a band with the range of all lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from httpbench.analysis import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run
from httpbench.report.charts.drawing import (
    HEIGHT,
    LINES_MAX,
    SHAPES,
    WIDTH,
    Drawing,
    band,
    data,
    distinct,
    ends,
    label,
    panels,
    scale,
    slug,
    whisker,
    wide,
)
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
FIRST, WHOLE = "first byte", "whole response"
BY_PERCENTILE = "Latency by percentile"
BAND = "line: the target · band: range of all targets"
DRAWN_FROM = 10
"""Lowest percentile that charts show. Lower percentiles would stretch the axis. The table has them."""
_PERCENT = "round(1e7 - 1e7 / datum.value) / 1e5 + '%'"
_PERCENTILES = alt.Axis(values=[1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000], labelExpr=_PERCENT, grid=True)


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the charts of a table, each with its kind."""
    if _has_ranking(group) and (ranking := _ranking(group)):
        yield "ranking", ranking
    if percentiles := _percentiles(group):
        yield "percentiles", percentiles
    if first_byte := _first_byte(group):
        yield "first-byte", first_byte


def first_title(group: Group) -> str:
    """Return the title of the first chart of a table that has one."""
    return figure_of(group)[1] if _has_ranking(group) else BY_PERCENTILE


def _has_ranking(group: Group) -> bool:
    """Return whether the table has a chart that compares its rows: not if a backend fails, or if each target has its own rate."""
    return group.load.fault is None and group.load.share_of_peak is None


def over_connections(found: Sequence[Group]) -> Iterator[tuple[str, Drawing]]:
    """Yield a chart of requests/s by connections, with its name, for each set of loads that differ only in connections."""
    for several in groups.over_connections(found):
        first = several[0]
        yield slug([first.workload, str(first.scaling), first.load_generator]), _by_connections(several)


def figure_of(group: Group) -> tuple[Figure, str, float]:
    """Return the metric by which rows are ordered, its title and its divisor: throughput, or p99 if the load has a rate."""
    return (THROUGHPUT, _throughput(group), 1.0) if group.load.rate_rps is None else (P99, "p99 (ms)", 1000.0)


def latency_of(group: Group) -> str:
    """Return what the latencies of a table are."""
    if group.has_events:
        return loads.latency_words(group)
    return "response time" if group.load.rate_rps is not None else "service time"


def _throughput(group: Group) -> str:
    return f"Throughput ({loads.throughput_unit(group)})"


def _ranking(group: Group) -> Drawing | None:
    figure, title, unit = figure_of(group)
    rows = [(row, estimate) for row in group.rows if row.counts and (estimate := row.headline) is not None]
    if not rows:
        return None
    medians: list[dict[str, Any]] = [
        {"target": label(row), "verdict": str(row.summary.verdict.kind), **whisker(estimate.median, estimate.interval, unit)}
        for row, estimate in rows
    ]
    rounds = {label(row): [value / unit for value in figure.rounds(row.trials).values()] for row, _ in rows}
    points = [{"target": name, "round": value} for name, values in rounds.items() for value in values]
    kinds = list(dict.fromkeys(row.summary.verdict.kind for row, _ in rows))
    target = alt.Y("target:N", title=None, sort=[label(row) for row, _ in rows], axis=alt.Axis(ticks=False, domain=False, labelLimit=200))
    shapes = alt.Scale(domain=list(map(str, kinds)), range=[SHAPES[kind] for kind in kinds])
    shape = alt.Shape("verdict:N", title=None, scale=shapes, legend=alt.Legend(orient="top"))
    shown = [value for values in rounds.values() for value in values] + [median[end] for median in medians for end in ("low", "high")]
    axis = scale(shown, title, padding=12)
    x = {channel: alt.X(f"{channel}:Q", axis=alt.Axis(tickCount=6), **axis) for channel in ("value", "low", "round")}
    base = alt.Chart(data(medians)).encode(y=target)
    whiskers = base.mark_rule(strokeWidth=2).encode(x=x["low"], x2="high:Q")
    dots = alt.Chart(data(points)).mark_point(filled=True, size=14, opacity=0.7, yOffset=BELOW).encode(x=x["round"], y=target)
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(x=x["value"], shape=shape)
    return Drawing(
        title=f"{title.partition(' (')[0]} of each target",
        notes=(ROUNDS,),
        place=loads.title(group),
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
    shown = [(_beyond(percentile), name, ms) for percentile, name, ms in points if percentile >= DRAWN_FROM]
    note = f"{latency_of(group)} of all rounds together; ends at the percentile that ten samples exceed"
    title, place = BY_PERCENTILE, loads.title(group)
    if len(names) > LINES_MAX:
        return Drawing(
            title, (note, f"{BAND} · across: percentile · up: ms, log scale"), _percentile_panels(names, shown), header, rows, (), place
        )
    lines = (
        alt.Chart(data({"target": name, "beyond": beyond, "ms": ms} for beyond, name, ms in shown))
        .mark_line(strokeWidth=1.7)
        .encode(
            x=alt.X("beyond:Q", title="percentile", scale=alt.Scale(type="log", nice=False), axis=_PERCENTILES),
            y=alt.Y("ms:Q", title="latency (ms, log scale)", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=5)),
            **distinct("target", names),
        )
        .properties(width=WIDTH, height=2 * HEIGHT)
    )
    return Drawing(title, (note,), lines, header, rows, tuple(names), place)


def _beyond(percentile: float) -> float:
    """Return the position of a percentile on a logarithmic axis: one of how many samples is higher."""
    return 1 / (1 - percentile / 100)


def _percentile_panels(names: Sequence[str], points: Sequence[tuple[float, str, float]]) -> Any:
    times, positions = [ms for *_, ms in points], [beyond for beyond, *_ in points]
    across = alt.Axis(values=[10, 100, 1000, 10_000], labelExpr=_PERCENT, grid=False)
    x: dict[str, Any] = {"title": None, "scale": alt.Scale(type="log", nice=False, domain=[min(positions), max(positions)]), "axis": across}
    y: dict[str, Any] = {
        "title": None,
        "scale": alt.Scale(type="log", nice=True, domain=[min(times), max(times)]),
        "axis": alt.Axis(tickCount=3),
    }
    behind = alt.Chart(data(band((beyond, ms) for beyond, _, ms in points))).mark_area()
    behind = behind.encode(x=alt.X("at:Q", **x), y=alt.Y("lowest:Q", **y), y2="highest:Q")

    def panel(name: str) -> Any:
        own = alt.Chart(data({"at": beyond, "ms": ms} for beyond, other, ms in points if other == name))
        return alt.layer(behind, own.mark_line(strokeWidth=2).encode(x=alt.X("at:Q", **x), y=alt.Y("ms:Q", **y)))

    return panels(names, panel)


def _first_byte(group: Group) -> Drawing | None:
    """Draw the median times to the first byte and to the whole response, unless no target has a visible difference."""
    rows = [row for row in group.rows if row.counts and row.summary.first_byte_us is not None]
    if not any(row.begins_early for row in rows):
        return None
    names, latency = list(map(label, rows)), latency_of(group)
    medians = [
        {"target": label(row), "ms": estimate.median / 1000, "what": what}
        for row in rows
        for what, figure in ((FIRST, "ttfb_p50"), (WHOLE, "p50"))
        if (estimate := row.latency_estimate(figure)) is not None
    ]
    y = alt.Y("target:N", title=None, sort=names, axis=alt.Axis(ticks=False, domain=False, labelLimit=200))
    x = alt.X("ms:Q", title="median time (ms)", scale=alt.Scale(zero=True, nice=True))
    shapes = alt.Scale(domain=[FIRST, WHOLE], range=["diamond", "circle"])
    shape = alt.Shape("what:N", title=None, scale=shapes, legend=alt.Legend(orient="top"))
    base = alt.Chart(data(medians)).encode(x=x, y=y)
    lines = base.mark_line(strokeWidth=2).encode(detail="target:N")
    marks = base.mark_point(filled=True, size=110, opacity=1).encode(shape=shape)
    header = ("Target", *(f"{name} (ms)" for name in ("TTFB p50", "TTFB p99", f"{latency} p50", f"{latency} p99")))
    return Drawing(
        title="Time to the first byte and to the whole response",
        notes=(f"p50, median over rounds · whole response: {latency}",),
        place=loads.title(group),
        chart=alt.layer(lines, marks).properties(width=WIDTH, height=ROW_HEIGHT * len(rows)),
        header=header,
        rows=tuple(
            (
                label(row),
                *(
                    figure_text(estimate.median / 1000) if (estimate := row.latency_estimate(figure)) else ""
                    for figure in ("ttfb_p50", "ttfb_p99", "p50", "p99")
                ),
            )
            for row in rows
        ),
    )


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
    header, rows = wide("Connections", names, ((f"{number:,}", label(row), estimate.median) for number, row, estimate in cells))
    quantity = _throughput(found[0])
    title, place = f"{loads.throughput_unit(found[0]).capitalize()} by connections", loads.setup(found[0])
    if len(names) > LINES_MAX:
        return Drawing(
            title, (BY_CONNECTIONS, "band: range of all targets"), _connection_panels(names, medians, points), header, rows, (), place
        )
    looks = distinct("target", names)
    x = alt.X("connections:O", title="connections", sort=numbers, axis=alt.Axis(labelAngle=0, grid=False))
    base = alt.Chart(data(medians)).encode(x=x, color=looks["color"])
    y = alt.Y("value:Q", title=quantity, axis=alt.Axis(format="~s"))
    lines = base.mark_line(strokeWidth=1.7).encode(y=y, strokeDash=looks["strokeDash"])
    whiskers = base.mark_rule(strokeWidth=1.7).encode(y=alt.Y("low:Q", title=quantity), y2="high:Q")
    dots = alt.Chart(data(points)).mark_point(filled=True, size=14, opacity=0.7)
    rounds = dots.encode(x=x, color=looks["color"], y=alt.Y("round:Q", title=quantity))
    drawn: Any = alt.layer(lines, whiskers, rounds).properties(width=WIDTH, height=2 * HEIGHT)
    return Drawing(title, (BY_CONNECTIONS,), drawn, header, rows, tuple(names), place)


def _connection_panels(names: Sequence[str], medians: Sequence[dict[str, Any]], points: Sequence[dict[str, Any]]) -> Any:
    x = alt.X("at:O", title=None, axis=alt.Axis(labelAngle=0, grid=False))
    highest = max(median["high"] for median in medians)
    y: dict[str, Any] = {"title": None, "axis": alt.Axis(format="~s", tickCount=3), "scale": alt.Scale(domain=[0, highest], nice=True)}
    behind = alt.Chart(data(band((median["connections"], median["value"]) for median in medians))).mark_area()
    behind = behind.encode(x=x, y=alt.Y("lowest:Q", **y), y2="highest:Q")

    def panel(name: str) -> Any:
        own, rounds = (
            alt.Chart(data({**row, "at": row["connections"]} for row in several if row["target"] == name)) for several in (medians, points)
        )
        line = own.mark_line(strokeWidth=2).encode(x=x, y=alt.Y("value:Q", **y))
        whiskers = own.mark_rule(strokeWidth=1.5).encode(x=x, y=alt.Y("low:Q", **y), y2="high:Q")
        dots = rounds.mark_point(filled=True, size=10, opacity=0.7).encode(x=x, y=alt.Y("round:Q", **y))
        return alt.layer(behind, line, whiskers, dots)

    return panels(names, panel)
