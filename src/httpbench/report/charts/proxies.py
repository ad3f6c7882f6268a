"""Charts of TCP proxies: percentiles over time while the rate rises, overhead, throughput with tail latency, CPU and memory.

Charts over time show the first round that counts. All other charts show all rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from httpbench.analysis.compared import differences
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Trial
from httpbench.report.charts.drawing import HEIGHT, WIDTH, Drawing, data, folded, label
from httpbench.report.charts.over_time import Used, served, used
from httpbench.report.words.loads import title
from httpbench.report.words.numbers import figure_text
from httpbench.report.words.tables import OVERHEAD_MEANING, overhead_table
from httpbench.stats.summary import Estimate

PERCENTILES = {"p50_us": "p50", "p90_us": "p90", "p99_us": "p99"}
"""Percentiles that each slice of the measurement has."""
TAIL_OF_STEP = {"p99_9": "p99.9 of a step", "p99_99": "p99.99 of a step"}
"""Percentiles for which a slice has too few samples, but a step of the rate has enough."""
ADDED = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "tm99_9": "tm99.9"}
TAIL = {"p99": "p99", "p99_9": "p99.9"}
SLICES_MAX = 96
"""Maximum number of slices while the rate rises: enough for several per step."""
GRAY = "#999999"
_TIME = alt.X("s:Q", title="time (s)", axis=alt.Axis(grid=False))
_RIGHT = alt.Axis(orient="right", grid=False)


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the charts of a table, by kind."""
    shown = [(row, trial) for row in group.rows if (trial := _first_that_counts(row)) is not None]
    if group.load.step_s is not None and shown:
        yield "latency-over-time", _latency_over_time(group, shown)
    if lasting := [(row, trial) for row, trial in shown if _has_a_course(trial)]:
        yield "usage-over-time", _usage_over_time(group, lasting)
    if added := _overhead(run, group):
        yield "overhead", added
    if group.load.rate_rps is None and shown:
        yield "throughput", _throughput(group)


def _latency_over_time(group: Group, shown: Sequence[tuple[Row, Trial]]) -> Drawing:
    low, high = _extent([trial for _, trial in shown])
    rows = [
        (label(row), f"{one.at_s:.2f}", *(_text(getattr(one, field)) for field in PERCENTILES), _text(one.offered_rps))
        for row, trial in shown
        if trial.measurement
        for one in served(trial.measurement.intervals, SLICES_MAX)
    ]
    return Drawing(
        title="Response time against the rate, over time",
        notes=(*folded(title(group)), "first valid round · dashed: offered rate · flat lines: the tail of each step of the rate"),
        chart=alt.vconcat(*(_over_time(row, trial, low, high) for row, trial in shown)),
        header=("Proxy", "Time (s)", *(f"{title} (µs)" for title in PERCENTILES.values()), "Offered (requests/s)"),
        rows=tuple(rows),
    )


def _usage_over_time(group: Group, lasting: Sequence[tuple[Row, Trial]]) -> Drawing:
    rows = [
        (label(row), who, f"{one.at_s:.2f}", figure_text(one.cores), figure_text(one.rss_bytes / 1e6))
        for row, trial in lasting
        for who, slices in _slices(trial).items()
        for one in slices
    ]
    return Drawing(
        title="CPU and memory over time",
        notes=(*folded(title(group)), "first valid round · dashed: memory"),
        chart=alt.vconcat(*(_usage(row, trial) for row, trial in lasting)),
        header=("Proxy", "Program", "Time (s)", "CPU (cores)", "Memory (MB)"),
        rows=tuple(rows),
    )


def _text(value: float | None) -> str:
    return "" if value is None else figure_text(value)


def _first_that_counts(row: Row) -> Trial | None:
    return next((trial for trial in row.trials if trial.verdict.counts and trial.measurement), None)


def _extent(trials: Sequence[Trial]) -> tuple[float, float]:
    """Return the range of all percentiles in µs, which lets all proxies share one scale."""
    values = [
        value
        for trial in trials
        if trial.measurement
        for source, fields in _sources(trial)
        for field in fields
        if (value := getattr(source, field)) is not None
    ]
    return min(values), max(values)


def _sources(trial: Trial) -> Iterator[tuple[object, Sequence[str]]]:
    """Yield slices and steps, each with the names of its percentiles."""
    assert trial.measurement is not None
    yield from ((interval, tuple(PERCENTILES)) for interval in trial.measurement.intervals)
    yield from ((step.response_time_us, tuple(TAIL_OF_STEP)) for step in trial.measurement.steps)


def _over_time(row: Row, trial: Trial, low: float, high: float) -> Any:
    """Draw one round of a proxy: percentiles on the left axis, the offered rate on the right."""
    assert trial.measurement is not None
    points = [
        {"s": one.at_s, "percentile": name, "us": value}
        for one in served(trial.measurement.intervals, SLICES_MAX)
        for field, name in PERCENTILES.items()
        if (value := getattr(one, field)) is not None
    ]
    rates = [{"s": at, "rps": step.rate_rps} for step in trial.measurement.steps for at in (step.start_s, step.start_s + step.duration_s)]
    tails = [
        {"s": step.start_s, "end": step.start_s + step.duration_s, "percentile": name, "us": value}
        for step in trial.measurement.steps
        for field, name in TAIL_OF_STEP.items()
        if (value := getattr(step.response_time_us, field)) is not None
    ]
    encoded: dict[str, Any] = {
        "y": alt.Y("us:Q", title="response time (µs)", scale=alt.Scale(type="log", domain=[low, high], nice=True)),
        "color": alt.Color(
            "percentile:N",
            title=None,
            scale=alt.Scale(domain=[*PERCENTILES.values(), *TAIL_OF_STEP.values()]),
            legend=alt.Legend(orient="top", columns=5),
        ),
    }
    lines = alt.Chart(data(points)).mark_line(strokeWidth=1.3).encode(x=_TIME, **encoded)
    flat = alt.Chart(data(tails)).mark_rule(strokeWidth=2).encode(x=_TIME, x2="end:Q", **encoded)
    rate = (
        alt.Chart(data(rates))
        .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GRAY)
        .encode(x=_TIME, y=alt.Y("rps:Q", title="offered (requests/s)", axis=_RIGHT))
    )
    return _beside(alt.layer(lines, flat), rate, row, trial)


def _slices(trial: Trial) -> dict[str, list[Used]]:
    """Return the CPU and memory use of each program."""
    seen = trial.observed
    usages = {"proxy": seen.target_usage, "backend": seen.backend_usage, "load generator": seen.generator_usage}
    return {who: used(usage) for who, usage in usages.items() if usage}


def _usage(row: Row, trial: Trial) -> Any:
    """Draw one round of a proxy: CPU on the left axis, memory of the proxy on the right.

    The chart of the baseline shows the memory of the backend, because there is no proxy.
    """
    slices = _slices(trial)
    whose = "proxy" if trial.observed.target_usage else "backend"
    cores = [{"s": one.at_s, "who": who, "cores": one.cores} for who, each in slices.items() for one in each]
    memory = [{"s": one.at_s, "mb": one.rss_bytes / 1e6} for one in slices.get(whose, [])]
    programs = alt.Scale(domain=["proxy", "backend", "load generator"])
    legend = alt.Legend(orient="top")
    lines = (
        alt.Chart(data(cores))
        .mark_line(strokeWidth=1.3)
        .encode(x=_TIME, y=alt.Y("cores:Q", title="CPU (cores)"), color=alt.Color("who:N", title=None, scale=programs, legend=legend))
    )
    area = (
        alt.Chart(data(memory))
        .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GRAY)
        .encode(x=_TIME, y=alt.Y("mb:Q", title=f"memory of the {whose} (MB)", axis=_RIGHT, scale=alt.Scale(zero=True)))
    )
    return _beside(lines, area, row, trial)


def _has_a_course(trial: Trial) -> bool:
    """Return whether the trial was long enough to draw a line."""
    return trial.observed.generator_usage is not None and len(used(trial.observed.generator_usage)) > 1


def _beside(left: Any, right: Any, row: Row, trial: Trial) -> Any:
    title = f"{label(row)} (round {trial.plan.round + 1})"
    return alt.layer(left, right).resolve_scale(y="independent").properties(width=WIDTH, height=HEIGHT, title=title)


def _overhead(run: Run, group: Group) -> Drawing | None:
    table = overhead_table(group, run.baseline)
    found = differences(group, run.baseline)
    values = [
        {
            "proxy": label(row),
            "figure": title,
            "us": difference.us,
            "low": difference.us_interval.low if difference.us_interval else None,
            "high": difference.us_interval.high if difference.us_interval else None,
        }
        for row in group.rows
        for figure, title in ADDED.items()
        if (difference := found.get(row.target.id, {}).get(figure)) is not None
    ]
    shown = [title for title in ADDED.values() if any(value["figure"] == title for value in values)]
    if table is None or not shown:
        return None
    bars = [_added([value for value in values if value["figure"] == title], title) for title in shown]
    return Drawing(
        title="Added to the baseline of the same rounds",
        notes=(*folded(title(group)), "with 95% intervals · each figure on a scale of its own", OVERHEAD_MEANING),
        chart=alt.concat(*bars, columns=3),
        header=tuple(table.headings),
        rows=tuple(map(tuple, table.texts)),
    )


def _added(values: list[dict[str, Any]], title: str) -> Any:
    proxy = alt.X("proxy:N", title=None, sort=None, axis=alt.Axis(labels=False, ticks=False))
    base, legend = alt.Chart(data(values)), alt.Legend(orient="top", columns=3)
    bars = base.mark_bar().encode(
        x=proxy, y=alt.Y("us:Q", title="added (µs)"), color=alt.Color("proxy:N", title=None, sort=None, legend=legend)
    )
    whiskers = base.mark_rule(strokeWidth=1.5).encode(x=proxy, y="low:Q", y2="high:Q")
    return alt.layer(bars, whiskers).properties(width=WIDTH / 3 - 60, height=HEIGHT, title=title)


def _throughput(group: Group) -> Drawing:
    rows = [row for row in group.rows if row.counts]
    names = [label(row) for row in rows]
    rates = [{"proxy": label(row), "rps": row.summary.throughput_rps.median} for row in rows if row.summary.throughput_rps]
    tails = [
        {"proxy": label(row), "figure": title, "us": estimate.median}
        for row in rows
        for field, title in TAIL.items()
        if row.latency and (estimate := getattr(row.latency, field)) is not None
    ]
    proxy = alt.X("proxy:N", title=None, sort=names, axis=alt.Axis(labelAngle=0))
    bars = (
        alt.Chart(data(rates))
        .mark_bar(opacity=0.35, color=GRAY)
        .encode(x=proxy, y=alt.Y("rps:Q", title="throughput (requests/s), bars", axis=_RIGHT))
    )
    points = (
        alt.Chart(data(tails))
        .mark_point(size=80, filled=True, opacity=1)
        .encode(
            x=proxy,
            y=alt.Y("us:Q", title="service time (µs), points", scale=alt.Scale(type="log", nice=True)),
            color=alt.Color("figure:N", title=None, sort=list(TAIL.values()), legend=alt.Legend(orient="top")),
        )
    )
    return Drawing(
        title="Throughput and tail latency",
        notes=(*folded(title(group)), "medians over rounds"),
        chart=alt.layer(bars, points).resolve_scale(y="independent").properties(width=WIDTH, height=2 * HEIGHT),
        header=("Proxy", "Requests/s", *(f"{title} (µs)" for title in TAIL.values())),
        rows=tuple((label(row), *map(_median, _estimates(row))) for row in rows),
    )


def _estimates(row: Row) -> Iterator[Estimate | None]:
    yield row.summary.throughput_rps
    yield from (getattr(row.latency, field) if row.latency else None for field in TAIL)


def _median(estimate: Estimate | None) -> str:
    return "" if estimate is None else figure_text(estimate.median)
