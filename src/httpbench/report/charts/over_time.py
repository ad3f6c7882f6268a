"""One target over time, in its first valid round: responses/s, latency, CPU, memory and throttling, with a line for each load."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.model import Trial
from httpbench.report.charts.drawing import WIDTH, Drawing, colour, dash, data, slug, wide
from httpbench.report.charts.slices import Served, Used, served, used
from httpbench.report.words import notes

HEIGHT = 110
FIGURES = ("p50", "p99", "p99.9")
WIDTHS = (0.8, 1.6, 2.8)
"""Of their lines: the wider, the higher."""
_TIME = alt.X("s:Q", title=None, axis=alt.Axis(grid=False))
_LAST_TIME = alt.X("s:Q", title="time (s)", axis=alt.Axis(grid=False))


def of_target(found: Sequence[Group], target: str) -> Iterator[tuple[str, Drawing]]:
    """One chart for each workload, scaling and load generator, by what they are."""
    alike: dict[tuple[object, ...], list[tuple[Group, Trial]]] = {}
    for group in found:
        for row in group.rows:
            trial = _first_that_counts(row)
            if row.target.id == target and trial is not None:
                alike.setdefault((group.workload, group.scaling, group.load_generator), []).append((group, trial))
    for measured in alike.values():
        first = measured[0][0]
        if drawing := _drawing(measured):
            yield slug([target, first.workload, str(first.scaling), first.load_generator]), drawing


def _first_that_counts(row: Row) -> Trial | None:
    return next((trial for trial in row.trials if trial.verdict.counts and trial.measurement), None)


def _drawing(measured: Sequence[tuple[Group, Trial]]) -> Drawing | None:
    responses = {load_label(group): served(trial.measurement.intervals) for group, trial in measured if trial.measurement}
    usage = {load_label(group): used(trial.target_usage) for group, trial in measured if trial.target_usage}
    names = list(dict.fromkeys((*responses, *usage)))
    panels = [*_responses(responses, names), *_usage(usage, names)]
    if not panels:
        return None
    first = measured[0][0]
    how = f"{first.workload} · {notes.scaling_words(first.scaling, first.target_cores, first.workers)} · {first.load_generator}"
    note = "first valid round · a point stands for one slice, or for several: their mean rate and CPU, their highest latency and memory"
    header, rows = _table(responses, usage, names)
    return Drawing("Over time", (how, note), alt.vconcat(*panels, spacing=6), header, rows, tuple(names) if len(names) > 1 else ())


def load_label(group: Group) -> str:
    """What tells the loads of one target apart."""
    load = group.load
    parts = [f"{load.connections:,} connections"] + ([f"{load.pipeline} in flight"] if load.pipeline > 1 else [])
    parts += [] if load.keepalive else ["no keep-alive"]
    parts += [f"{load.requests_per_connection} requests each"] if load.requests_per_connection else []
    if load.rate_rps is not None:
        first = f"{load.rate_from_rps:,.0f} to " if load.rate_from_rps else ""
        parts.append(f"{first}{load.rate_rps:,.0f}/s")
    return ", ".join(parts)


def _responses(slices: dict[str, list[Served]], names: list[str]) -> Iterator[Any]:
    """Rate, and below it the percentiles."""
    rates = [{"s": one.at_s, "load": name, "rps": one.rate_rps} for name, each in slices.items() for one in each]
    if len(rates) < 2:
        return
    rate = alt.Chart(data(rates)).mark_line(strokeWidth=1.5)
    yield rate.encode(
        x=_TIME,
        y=alt.Y("rps:Q", title="responses/s", scale=alt.Scale(zero=False), axis=alt.Axis(format="~s", tickCount=4)),
        color=colour("load", names, has_legend=len(names) > 1),
        strokeDash=dash("load", names, has_legend=len(names) > 1),
    ).properties(width=WIDTH, height=HEIGHT)
    times = [
        {"s": one.at_s, "load": name, "figure": figure, "ms": us / 1000}
        for name, each in slices.items()
        for one in each
        for figure, us in _known(one)
    ]
    if times:
        known = [figure for figure in FIGURES if any(time["figure"] == figure for time in times)]
        widths = alt.Scale(domain=known, range=list(WIDTHS[: len(known)]))
        width = alt.StrokeWidth("figure:N", title=None, scale=widths, legend=alt.Legend(orient="top"))
        latency = alt.Chart(data(times)).mark_line()
        yield latency.encode(
            x=_TIME,
            y=alt.Y("ms:Q", title="latency (ms)", scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=4, grid=False)),
            color=colour("load", names, has_legend=len(names) > 1),
            strokeDash=dash("load", names, has_legend=len(names) > 1),
            strokeWidth=width,
        ).properties(width=WIDTH, height=HEIGHT)


def _usage(slices: dict[str, list[Used]], names: list[str]) -> Iterator[Any]:
    points = [
        {"s": one.at_s, "load": name, "cores": one.cores, "throttled": one.throttled_cores or 0.0, "mb": one.rss_bytes / 1e6}
        for name, each in slices.items()
        for one in each
    ]
    if len(points) < 2:
        return
    panels = [("cores", "CPU (cores)", _TIME), ("throttled", "throttled (cores)", _TIME), ("mb", "memory (MB)", _LAST_TIME)]
    if not any(point["throttled"] for point in points):
        panels = [panel for panel in panels if panel[0] != "throttled"]
        points = [{name: value for name, value in point.items() if name != "throttled"} for point in points]
    for field, title, time in panels:
        yield (
            alt.Chart(data(points))
            .mark_line(strokeWidth=1.5)
            .encode(
                x=time,
                y=alt.Y(f"{field}:Q", title=title, scale=alt.Scale(zero=True)),
                color=colour("load", names, has_legend=len(names) > 1),
                strokeDash=dash("load", names, has_legend=len(names) > 1),
            )
            .properties(width=WIDTH, height=HEIGHT)
        )


def _table(
    responses: dict[str, list[Served]], usage: dict[str, list[Used]], names: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """A row for each slice. Slices of responses and of CPU time have lengths of their own, so a row has one or the other, or both."""
    several = len(names) > 1

    def column(title: str, name: str) -> str:
        return f"{title}, {name}" if several else title

    points: list[tuple[float, str, float | None]] = []
    for name, each in responses.items():
        for one in each:
            points.append((one.at_s, column("Responses/s", name), one.rate_rps))
            points += [(one.at_s, column(f"{figure} (ms)", name), us / 1000) for figure, us in _known(one)]
    for name, each_used in usage.items():
        for slice_used in each_used:
            at_s = round(slice_used.at_s, 1)  # samples are late by some ms, and loads share their rows
            points.append((at_s, column("CPU (cores)", name), slice_used.cores))
            if slice_used.throttled_cores is not None:
                points.append((at_s, column("Throttled (cores)", name), slice_used.throttled_cores))
            points.append((at_s, column("Memory (MB)", name), slice_used.rss_bytes / 1e6))
    columns = list(dict.fromkeys(title for _, title, _ in points))
    ordered = sorted(points, key=lambda point: point[0])
    header, rows = wide("Time (s)", columns, ((f"{at:.2f}", title, value) for at, title, value in ordered))
    return header, tuple(rows)


def _known(one: Served) -> list[tuple[str, float]]:
    return [(figure, us) for figure, us in zip(FIGURES, (one.p50_us, one.p99_us, one.p99_9_us), strict=True) if us is not None]
