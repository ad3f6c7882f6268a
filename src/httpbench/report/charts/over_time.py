"""One target over time in its first valid round: responses/s, latency, CPU, memory and throttling, with a line for each load.

A chart has room for a limited number of slices, so neighboring slices are joined.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.model import Interval, Trial, Usage
from httpbench.report.charts.drawing import WIDTH, Drawing, color, dash, data, slug, wide
from httpbench.report.words.loads import load_label, setup

HEIGHT = 110
FIGURES = ("p50", "p99", "p99.9")
WIDTHS = (0.8, 1.6, 2.8)
"""Line widths of the percentiles."""
_TIME = alt.X("s:Q", title=None, axis=alt.Axis(grid=False))
_LAST_TIME = alt.X("s:Q", title="time (s)", axis=alt.Axis(grid=False))


SECOND = 0.95  # less than a second, because samples may come early
SLICES_MAX = 60
"""Maximum number of slices of a line."""


@dataclass(frozen=True, slots=True)
class Served:
    """Responses of one slice or of several joined slices."""

    at_s: float
    rate_rps: float
    offered_rps: float | None
    p50_us: float | None
    """Highest p50 of the joined slices, because percentiles can't be averaged. The same applies to the other percentiles."""
    p90_us: float | None
    p99_us: float | None
    p99_9_us: float | None = None


@dataclass(frozen=True, slots=True)
class Used:
    """CPU use, memory use and throttling of one slice."""

    at_s: float
    cores: float
    """Mean CPU use."""
    rss_bytes: int
    """Highest memory use."""
    throttled_cores: float | None = None
    """Time for which a quota stopped the target, in cores. ``None``: no quota."""


def of_target(found: Sequence[Group], target: str) -> Iterator[tuple[str, Drawing]]:
    """Yield a chart for each workload, scaling and load generator, with its file name."""
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
    usage = {load_label(group): used(trial.observed.target_usage) for group, trial in measured if trial.observed.target_usage}
    names = list(dict.fromkeys((*responses, *usage)))
    panels = [*_responses(responses, names), *_usage(usage, names)]
    if not panels:
        return None
    first = measured[0][0]
    note = "first valid round · a point is one or more slices: their mean rate and CPU use, their highest latency and memory"
    header, rows = _table(responses, usage, names)
    return Drawing("Over time", (setup(first), note), alt.vconcat(*panels, spacing=6), header, rows, tuple(names) if len(names) > 1 else ())


def _responses(slices: dict[str, list[Served]], names: list[str]) -> Iterator[Any]:
    """Draw the rate and the percentiles of the responses."""
    rates = [{"s": one.at_s, "load": name, "rps": one.rate_rps} for name, each in slices.items() for one in each]
    if len(rates) < 2:
        return
    rate = alt.Chart(data(rates)).mark_line(strokeWidth=1.5)
    yield rate.encode(
        x=_TIME,
        y=alt.Y("rps:Q", title="responses/s", scale=alt.Scale(zero=False), axis=alt.Axis(format="~s", tickCount=4)),
        color=color("load", names, has_legend=len(names) > 1),
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
            color=color("load", names, has_legend=len(names) > 1),
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
                color=color("load", names, has_legend=len(names) > 1),
                strokeDash=dash("load", names, has_legend=len(names) > 1),
            )
            .properties(width=WIDTH, height=HEIGHT)
        )


def _table(
    responses: dict[str, list[Served]], usage: dict[str, list[Used]], names: list[str]
) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return a row for each slice. Slices of responses and of CPU time differ in length, so a row may have only one of them."""
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
            at_s = round(slice_used.at_s, 1)  # samples are a few ms late, and all loads share the rows
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


# --- slices ----------------------------------------------------------------------------------------------------------------------


def served(intervals: Sequence[Interval], slices_max: int = SLICES_MAX) -> list[Served]:
    """Join slices until at most ``slices_max`` remain."""
    each = math.ceil(len(intervals) / slices_max) or 1
    return [_joined(intervals[start : start + each]) for start in range(0, len(intervals), each)]


def used(usage: Usage) -> list[Used]:
    """Return at most ``SLICES_MAX`` slices of about a second or more.

    The kernel counts CPU time in ticks of 10 ms, which would look like spikes in shorter slices. Even so, a short trial has four slices.
    """
    return list(_used(usage)) if usage.samples else []


def _used(usage: Usage) -> Iterator[Used]:
    length_s = usage.samples[-1].at_s
    slice_s = max(min(SECOND, length_s / 4), length_s / SLICES_MAX)
    begin_s, cpu_s, before_s, most, stopped_s = 0.0, 0.0, 0.0, 0, 0.0
    for sample, throttled_s in zip_longest(usage.samples, usage.throttled_samples_s, fillvalue=None):
        assert sample is not None, "throttled time belongs to a sample"
        cpu_s += sample.cpu_cores * (sample.at_s - before_s)
        stopped_s += throttled_s or 0.0
        before_s, most = sample.at_s, max(most, sample.rss_bytes)
        if before_s - begin_s >= slice_s > 0:
            length = before_s - begin_s
            yield Used(before_s, cpu_s / length, most, None if throttled_s is None else stopped_s / length)
            begin_s, cpu_s, most, stopped_s = before_s, 0.0, 0, 0.0


def _joined(parts: Sequence[Interval]) -> Served:
    length_s = sum(part.duration_s for part in parts)
    offered = [part.offered_rps for part in parts if part.offered_rps is not None]
    return Served(
        at_s=parts[0].start_s,
        rate_rps=sum(part.completed for part in parts) / length_s if length_s > 0 else 0.0,
        offered_rps=sum(offered) / len(offered) if offered else None,
        p50_us=_highest([part.p50_us for part in parts]),
        p90_us=_highest([part.p90_us for part in parts]),
        p99_us=_highest([part.p99_us for part in parts]),
        p99_9_us=_highest([part.p99_9_us for part in parts]),
    )


def _highest(values: Sequence[float | None]) -> float | None:
    return max((value for value in values if value is not None), default=None)
