"""Charts of one target over time: responses/s, latency, CPU, memory, throttling and steal, with a line for each load.

Triangles mark slow times in the line of responses/s, with their cause if it is known.

The charts show the first valid round. The measurement is divided into slices of time. A line has room for a limited number of points, so
neighboring slices are joined.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import zip_longest
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.model import Interval, Trial, Usage
from httpbench.report.charts.drawing import WIDTH, Drawing, data, distinct, scale, slug, wide
from httpbench.report.words.loads import load_label, setup
from httpbench.report.words.stalls import cause_name, slow_notes
from httpbench.stats.stall_causes import slow_times

HEIGHT = 110
RATE, CPU, THROTTLED, STOLEN, MEMORY = "Responses/s", "CPU (cores)", "Throttled (cores)", "Stolen (cores)", "Memory (MB)"
SLOW = "slow"
PERCENTILES = {"p50": "p50_us", "p99": "p99_us", "p99.9": "p99_9_us"}
WIDTHS = (0.8, 1.6, 2.8)
"""Line widths of the percentiles."""
NOTE = "first valid round · a point is one or more slices: their mean rate and CPU use, their highest latency and memory"

SECOND = 0.95
"""Minimum length of a slice of CPU time, in seconds. It is less than a second, because a sample may be taken slightly early."""
SLICES_MAX = 60
"""Maximum number of slices in a line."""


@dataclass(frozen=True, slots=True)
class Used:
    """CPU use, memory use and throttling of a target in one slice of time."""

    at_s: float
    cores: float
    """Mean CPU use."""
    rss_bytes: int
    """Highest memory use."""
    throttled_cores: float | None = None
    """Throttled time divided by the length of the slice, in cores. ``None`` without a quota."""
    stolen_cores: float = 0.0
    """Time that the hypervisor took from the target's CPUs, divided by the length of the slice, in cores."""


@dataclass(frozen=True, slots=True)
class _Point:
    """One value of one line."""

    s: float
    load: str
    figure: str
    value: float
    cause: str = ""
    """Cause of a slow time."""


def of_target(found: Sequence[Group], target: str) -> Iterator[tuple[str, Drawing]]:
    """Yield a chart for each workload, scaling and load generator, with its file name."""
    alike: dict[tuple[object, ...], list[tuple[Group, Trial]]] = {}
    for group in found:
        for row in group.rows:
            trial = first_that_counts(row)
            if row.target.id == target and trial is not None:
                alike.setdefault((group.workload, group.scaling, group.load_generator), []).append((group, trial))
    for measured in alike.values():
        first = measured[0][0]
        if drawing := _drawing(measured):
            yield slug([target, first.workload, str(first.scaling), first.load_generator]), drawing


def first_that_counts(row: Row) -> Trial | None:
    """Return the first round that counts and has a measurement, or ``None``."""
    return next((trial for trial in row.trials if trial.verdict.counts and trial.measurement), None)


def _drawing(measured: Sequence[tuple[Group, Trial]]) -> Drawing | None:
    trials = {load_label(group): trial for group, trial in measured}
    points = [point for load, trial in trials.items() for point in _responses(load, trial)]
    points += [point for load, trial in trials.items() for point in _usage(load, trial)]
    slow = {load: slow_times(trial) for load, trial in trials.items()}
    marks = [_Point(each.start_s, load, SLOW, each.rps, cause_name(each)) for load, several in slow.items() for each in several]
    panels = list(_panels([*points, *marks], list(trials)))
    if not panels:
        return None
    header, rows = _table(points, has_loads=len(trials) > 1)
    series = tuple(trials) if len(trials) > 1 else ()
    return Drawing("Over time", (NOTE, *slow_notes(slow)), alt.vconcat(*panels, spacing=6), header, rows, series, setup(measured[0][0]))


def _responses(load: str, trial: Trial) -> Iterator[_Point]:
    for part in served(trial.measurement.intervals if trial.measurement else ()):
        yield _Point(part.start_s, load, RATE, part.completed / part.duration_s if part.duration_s > 0 else 0.0)
        for figure, field in PERCENTILES.items():
            if (us := getattr(part, field)) is not None:
                yield _Point(part.start_s, load, figure, us / 1000)


def _usage(load: str, trial: Trial) -> Iterator[_Point]:
    usage = trial.observed.target_usage
    for part in used(usage) if usage else ():
        yield _Point(part.at_s, load, CPU, part.cores)
        if part.throttled_cores is not None:
            yield _Point(part.at_s, load, THROTTLED, part.throttled_cores)
        if usage and usage.stolen_samples_s:
            yield _Point(part.at_s, load, STOLEN, part.stolen_cores)
        yield _Point(part.at_s, load, MEMORY, part.rss_bytes / 1e6)


def _panels(points: Sequence[_Point], loads: Sequence[str]) -> Iterator[Any]:
    """Draw a panel for each metric that has more than one point. Percentiles share a panel."""
    counts = Counter(point.figure for point in points)
    shared = {**distinct("load", loads, has_legend=len(loads) > 1), "strokeWidth": alt.value(1.5)}

    def panel(figures: Sequence[str], y: Any, *, time: str | None = None, **encoded: Any) -> Any:
        lines = alt.Chart(data(asdict(point) for point in points if point.figure in figures)).mark_line()
        x = alt.X("s:Q", title=time, axis=alt.Axis(grid=False))
        return lines.encode(x=x, y=y, **{**shared, **encoded}).properties(width=WIDTH, height=HEIGHT)

    def from_zero(title: str) -> Any:
        return alt.Y("value:Q", title=title, scale=alt.Scale(zero=True))

    if counts[RATE] > 1:
        axis = alt.Axis(format="~s", tickCount=4)
        rates = [point.value for point in points if point.figure in (RATE, SLOW)]
        rate = panel([RATE], alt.Y("value:Q", axis=axis, **scale(rates, "responses/s")))
        yield alt.layer(rate, *_marks([point for point in points if point.figure == SLOW])) if counts[SLOW] else rate
        if known := [figure for figure in PERCENTILES if counts[figure]]:
            widths = alt.Scale(domain=known, range=list(WIDTHS[: len(known)]))
            width = alt.StrokeWidth("figure:N", title=None, scale=widths, legend=alt.Legend(orient="top"))
            log, axis = alt.Scale(type="log", nice=True), alt.Axis(tickCount=4, grid=False)
            yield panel(known, alt.Y("value:Q", title="ms, log scale", scale=log, axis=axis), strokeWidth=width)
    if counts[CPU] > 1:
        yield panel([CPU], from_zero("CPU (cores)"))
        if any(point.value for point in points if point.figure == THROTTLED):
            yield panel([THROTTLED], from_zero("throttled (cores)"))
        if counts[STOLEN]:
            yield panel([STOLEN], from_zero("stolen (cores)"))
        yield panel([MEMORY], from_zero("memory (MB)"), time="time (s)")


def _marks(slow: Sequence[_Point]) -> tuple[Any, Any]:
    """Draw a triangle at the begin of each slow time, with the name of its cause beside it."""
    base = alt.Chart(data(asdict(point) for point in slow)).encode(x="s:Q", y="value:Q")
    triangles = base.mark_point(shape="triangle-up", filled=True, size=60, opacity=1)
    return triangles, base.mark_text(align="left", dx=6, dy=-9, fontSize=11).encode(text="cause:N")


def _table(points: Sequence[_Point], *, has_loads: bool) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the header and a row for each slice. Slices of responses and slices of CPU time differ in length, so some cells are empty."""
    cells = []
    for point in points:
        title = f"{point.figure} (ms)" if point.figure in PERCENTILES else point.figure
        # The samples of different loads are a few ms apart. Without rounding, each load would get its own rows.
        at_s = point.s if point.figure in (RATE, *PERCENTILES) else round(point.s, 1)
        cells.append((at_s, f"{title}, {point.load}" if has_loads else title, point.value))
    columns = list(dict.fromkeys(title for _, title, _ in cells))
    ordered = sorted(cells, key=lambda cell: cell[0])
    return wide("Time (s)", columns, ((f"{at_s:.2f}", title, value) for at_s, title, value in ordered))


# --- slices ----------------------------------------------------------------------------------------------------------------------


def served(intervals: Sequence[Interval], slices_max: int = SLICES_MAX) -> list[Interval]:
    """Join slices until at most ``slices_max`` remain."""
    each = math.ceil(len(intervals) / slices_max) or 1
    return [_joined(intervals[start : start + each]) for start in range(0, len(intervals), each)]


def used(usage: Usage) -> list[Used]:
    """Join samples into at most ``SLICES_MAX`` slices of about a second or more.

    The kernel counts CPU time in ticks of 10 ms, which would look like spikes in shorter slices. A trial of less than about four seconds
    is divided into four shorter slices.
    """
    return list(_used(usage)) if usage.samples else []


def _used(usage: Usage) -> Iterator[Used]:
    length_s = usage.samples[-1].at_s
    slice_s = max(min(SECOND, length_s / 4), length_s / SLICES_MAX)
    begin_s, cpu_s, before_s, most, stopped_s, taken_s = 0.0, 0.0, 0.0, 0, 0.0, 0.0
    for sample, throttled_s, stolen_s in zip_longest(usage.samples, usage.throttled_samples_s, usage.stolen_samples_s, fillvalue=None):
        assert sample is not None, "throttled and stolen times belong to a sample"
        cpu_s += sample.cpu_cores * (sample.at_s - before_s)
        stopped_s += throttled_s or 0.0
        taken_s += stolen_s or 0.0
        before_s, most = sample.at_s, max(most, sample.rss_bytes)
        if before_s - begin_s >= slice_s > 0:
            length = before_s - begin_s
            yield Used(before_s, cpu_s / length, most, None if throttled_s is None else stopped_s / length, taken_s / length)
            begin_s, cpu_s, most, stopped_s, taken_s = before_s, 0.0, 0, 0.0, 0.0


def _joined(parts: Sequence[Interval]) -> Interval:
    """Join slices. Percentiles can't be averaged, so each percentile is the highest value among the joined slices."""
    offered = [part.offered_rps for part in parts if part.offered_rps is not None]
    times = {name: [us for part in parts if (us := getattr(part, name)) is not None] for name in ("p50_us", "p90_us", "p99_us", "p99_9_us")}
    return Interval(
        start_s=parts[0].start_s,
        duration_s=sum(part.duration_s for part in parts),
        completed=sum(part.completed for part in parts),
        offered_rps=sum(offered) / len(offered) if offered else None,
        **{name: max(known, default=None) for name, known in times.items()},
    )
