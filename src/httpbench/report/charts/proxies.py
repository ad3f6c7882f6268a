"""Charts of proxies: percentiles over time while the rate rises, overhead, throughput with tail latency, CPU and memory.

Charts over time show the first round that counts. All other charts show all rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

from httpbench.analysis.compared import differences
from httpbench.analysis.rows import Group, Row
from httpbench.model import Interval, Run, Step, Trial
from httpbench.report.charts.drawing import HEIGHT, WIDTH, Drawing, data, label
from httpbench.report.charts.over_time import Used, first_that_counts, served, used
from httpbench.report.words import loads
from httpbench.report.words.columns import LOWER_BOUND, UNKNOWN_BOUND
from httpbench.report.words.numbers import figure_text
from httpbench.report.words.tables import OVERHEAD_MEANING, bound_mark, overhead_table
from httpbench.stats.interval import ConfidenceInterval

PERCENTILES = {"p50_us": "p50", "p90_us": "p90", "p99_us": "p99"}
"""Percentiles that each slice of the measurement contains."""
TAIL_OF_STEP = {"p99_9": "p99.9 of a step", "p99_99": "p99.99 of a step"}
"""Percentiles that are computed over a whole step of the rate, because a slice contains too few samples."""
ADDED = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "tm99_9": "tm99.9"}
TAIL = {"p99": "p99", "p99_9": "p99.9"}
SLICES_MAX = 96
"""Maximum number of slices in a line while the rate rises. It is large enough for several slices per step of the rate."""
GRAY = "#999999"
ADDS = "Latency that each proxy adds"
"""Title of the first chart of a table with a baseline, unless the proxies are overloaded."""
OVER_TIME = "CPU and memory over time"
ROW_HEIGHT = 20
_TIME = alt.X("s:Q", title="time (s)", axis=alt.Axis(grid=False))
_RIGHT = alt.Axis(orient="right", grid=False)


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the charts of a table, each with its kind."""
    if added := _overhead(run, group):
        yield "overhead", added
    shown = [(row, trial) for row in group.rows if (trial := first_that_counts(row)) is not None]
    if group.load.rate_rps is None and shown:
        yield "throughput", _throughput(group)
    if group.load.step_s is not None and shown:
        yield "latency-over-time", _latency_over_time(group, shown)
    if lasting := [(row, trial) for row, trial in shown if _has_a_line(trial)]:
        yield "usage-over-time", _usage_over_time(group, lasting)


def _latency_over_time(group: Group, shown: Sequence[tuple[Row, Trial]]) -> Drawing:
    slices = [(row, part) for row, trial in shown for part in _served(trial)]
    return Drawing(
        title="Response time against the rate, over time",
        notes=("first valid round · dashed: offered rate · flat lines: the tail of each step of the rate",),
        place=loads.title(group),
        chart=alt.vconcat(*(_over_time(row, trial, _extent([trial for _, trial in shown])) for row, trial in shown)),
        header=("Proxy", "Time (s)", *(f"{title} (µs)" for title in PERCENTILES.values()), "Offered (requests/s)"),
        rows=tuple(
            (
                label(row),
                f"{part.start_s:.2f}",
                *(figure_text(getattr(part, field)) for field in PERCENTILES),
                figure_text(part.offered_rps),
            )
            for row, part in slices
        ),
    )


def _usage_over_time(group: Group, lasting: Sequence[tuple[Row, Trial]]) -> Drawing:
    return Drawing(
        title=OVER_TIME,
        notes=("first valid round · dashed: memory",),
        place=loads.title(group),
        chart=alt.vconcat(*(_usage(row, trial) for row, trial in lasting)),
        header=("Proxy", "Program", "Time (s)", "CPU (cores)", "Memory (MB)"),
        rows=tuple(
            (label(row), who, f"{part.at_s:.2f}", figure_text(part.cores), figure_text(part.rss_bytes / 1e6))
            for row, trial in lasting
            for who, slices in _slices(trial).items()
            for part in slices
        ),
    )


def _served(trial: Trial) -> list[Interval]:
    return served(trial.measurement.intervals, SLICES_MAX) if trial.measurement else []


def _steps(trial: Trial) -> tuple[Step, ...]:
    return trial.measurement.steps if trial.measurement else ()


def _extent(trials: Sequence[Trial]) -> list[float]:
    """Return the lowest and the highest percentile of all proxies in µs. The charts of all proxies have this scale."""
    sources = [source for trial in trials if trial.measurement for source in trial.measurement.intervals]
    tails = [step.response_time_us for trial in trials for step in _steps(trial)]
    values = [getattr(source, field) for source in sources for field in PERCENTILES]
    values += [getattr(source, field) for source in tails for field in TAIL_OF_STEP]
    known = [value for value in values if value is not None]
    return [min(known), max(known)]


def _over_time(row: Row, trial: Trial, extent: list[float]) -> Any:
    """Draw one round of a proxy: percentiles on the left axis, the offered rate on the right."""
    points = [
        {"s": part.start_s, "percentile": name, "us": value}
        for part in _served(trial)
        for field, name in PERCENTILES.items()
        if (value := getattr(part, field)) is not None
    ]
    rates = [{"s": at, "right": step.rate_rps} for step in _steps(trial) for at in (step.start_s, step.start_s + step.duration_s)]
    tails = [
        {"s": step.start_s, "end": step.start_s + step.duration_s, "percentile": name, "us": value}
        for step in _steps(trial)
        for field, name in TAIL_OF_STEP.items()
        if (value := getattr(step.response_time_us, field)) is not None
    ]
    names = alt.Scale(domain=[*PERCENTILES.values(), *TAIL_OF_STEP.values()])
    encoded = {
        "x": _TIME,
        "y": alt.Y("us:Q", title="response time (µs, log scale)", scale=alt.Scale(type="log", domain=extent, nice=True)),
        "color": alt.Color("percentile:N", title=None, scale=names, legend=alt.Legend(orient="top", columns=5)),
    }
    lines = alt.Chart(data(points)).mark_line(strokeWidth=1.3).encode(**encoded)
    flat = alt.Chart(data(tails)).mark_rule(strokeWidth=2).encode(x2="end:Q", **encoded)
    return _beside(alt.layer(lines, flat), rates, "offered (requests/s)", row, trial)


def _slices(trial: Trial) -> dict[str, list[Used]]:
    """Return the slices of CPU and memory use of each program."""
    seen = trial.observed
    usages = {"proxy": seen.target_usage, "backend": seen.backend_usage, "load generator": seen.generator_usage}
    return {who: used(usage) for who, usage in usages.items() if usage}


def _usage(row: Row, trial: Trial) -> Any:
    """Draw one round of a proxy: CPU on the left axis, memory of the proxy on the right.

    The chart of the baseline shows the memory of the backend, because the baseline has no proxy.
    """
    slices = _slices(trial)
    whose = "proxy" if trial.observed.target_usage else "backend"
    cores = [{"s": part.at_s, "who": who, "cores": part.cores} for who, parts in slices.items() for part in parts]
    memory = [{"s": part.at_s, "right": part.rss_bytes / 1e6} for part in slices.get(whose, [])]
    programs = alt.Scale(domain=["proxy", "backend", "load generator"])
    hue = alt.Color("who:N", title=None, scale=programs, legend=alt.Legend(orient="top"))
    lines = alt.Chart(data(cores)).mark_line(strokeWidth=1.3).encode(x=_TIME, y=alt.Y("cores:Q", title="CPU (cores)"), color=hue)
    return _beside(lines, memory, f"memory of the {whose} (MB)", row, trial)


def _has_a_line(trial: Trial) -> bool:
    """Return whether the trial was long enough to draw a line."""
    return trial.observed.generator_usage is not None and len(used(trial.observed.generator_usage)) > 1


def _beside(left: Any, points: list[dict[str, Any]], axis_title: str, row: Row, trial: Trial) -> Any:
    """Add a dashed line to the chart ``left``, with its own axis on the right."""
    y = alt.Y("right:Q", title=axis_title, axis=_RIGHT, scale=alt.Scale(zero=True))
    right = alt.Chart(data(points)).mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GRAY).encode(x=_TIME, y=y)
    title = f"{label(row)} (round {trial.plan.round + 1})"
    return alt.layer(left, right).resolve_scale(y="independent").properties(width=WIDTH, height=HEIGHT, title=title)


def _overhead(run: Run, group: Group) -> Drawing | None:
    table = overhead_table(group, run.baseline)
    found = differences(group, run.baseline)
    marks = {
        row.target.id: bound_mark(theirs, row)
        for row in group.rows
        if row.target.id in found and (theirs := group.baseline_of(row.target.id, run.baseline)) is not None
    }
    bars = []
    for figure, title in ADDED.items():
        known = [(_name(row, marks), each) for row in group.rows if (each := found.get(row.target.id, {}).get(figure)) is not None]
        if known:
            bars.append(_added([{"proxy": name, "us": each.us, **_ends(each.us_interval)} for name, each in known], title))
    if table is None or not bars:
        return None
    columns, rows = table
    return Drawing(
        title=ADDS,
        notes=("whisker: 95% interval · each panel has its own scale", *_bounds(marks), OVERHEAD_MEANING),
        place=loads.title(group),
        chart=alt.vconcat(*bars, spacing=14),
        header=tuple(column.heading for column in columns),
        rows=tuple(tuple(column.text(row) for column in columns) for row in rows),
    )


def _name(row: Row, marks: Mapping[str, str]) -> str:
    """Return the name of a row with the mark of a bound, as in tables."""
    return f"{marks.get(row.target.id, '').strip()} {label(row)}".strip()


def _bounds(marks: Mapping[str, str]) -> Iterator[str]:
    """Explain the marks before names."""
    found = dict.fromkeys(mark.strip() for mark in marks.values() if mark)
    if bounds := [mark for mark in found if mark != UNKNOWN_BOUND]:
        yield f"{', '.join(bounds)} before a name: a bound, because something other than the proxy was at its limit"
    if UNKNOWN_BOUND in found:
        yield f"{UNKNOWN_BOUND} before a name: it may be higher or lower, because something else was at its limit in both"


def _ends(interval: ConfidenceInterval | None) -> dict[str, float | None]:
    return {"low": interval.low if interval else None, "high": interval.high if interval else None}


def _added(values: list[dict[str, Any]], title: str) -> Any:
    y = alt.Y("proxy:N", title=None, sort=None, axis=alt.Axis(ticks=False, domain=False, labelLimit=200))
    base = alt.Chart(data(values)).encode(y=y)
    bars = base.mark_bar(opacity=0.7).encode(x=alt.X("us:Q", title=f"added to the {title} (µs)", axis=alt.Axis(tickCount=6)))
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x="low:Q", x2="high:Q")
    return alt.layer(bars, whiskers).properties(width=WIDTH, height=ROW_HEIGHT * len(values))


def _throughput(group: Group) -> Drawing:
    rows = [row for row in group.rows if row.counts]
    marks = {row.target.id: LOWER_BOUND if row.is_lower_bound else "" for row in rows}
    figures = {_name(row, marks): (row.summary.throughput_rps, *(getattr(row.latency, field, None) for field in TAIL)) for row in rows}
    rates = [{"proxy": name, "rps": rate.median} for name, (rate, *_) in figures.items() if rate]
    tails = [
        {"proxy": name, "figure": title, "us": estimate.median}
        for name, (_, *estimates) in figures.items()
        for title, estimate in zip(TAIL.values(), estimates, strict=True)
        if estimate is not None
    ]
    proxy = alt.X("proxy:N", title=None, sort=list(figures), axis=alt.Axis(labelAngle=-20, labelLimit=150))
    rate = alt.Y("rps:Q", title="throughput (requests/s), bars", axis=_RIGHT)
    time = alt.Y("us:Q", title="service time (µs, log scale), points", scale=alt.Scale(type="log", nice=True))
    hue = alt.Color("figure:N", title=None, sort=list(TAIL.values()), legend=alt.Legend(orient="top"))
    bars = alt.Chart(data(rates)).mark_bar(opacity=0.35, color=GRAY).encode(x=proxy, y=rate)
    points = alt.Chart(data(tails)).mark_point(size=80, filled=True, opacity=1).encode(x=proxy, y=time, color=hue)
    return Drawing(
        title="Throughput and tail latency",
        notes=("medians over rounds", *_bounds(marks)),
        place=loads.title(group),
        chart=alt.layer(bars, points).resolve_scale(y="independent").properties(width=WIDTH, height=2 * HEIGHT),
        header=("Proxy", "Requests/s", *(f"{title} (µs)" for title in TAIL.values())),
        rows=tuple((name, *(figure_text(each.median if each else None) for each in estimates)) for name, estimates in figures.items()),
    )
