"""Charts of TCP proxies: percentiles against a rising rate over time, what each adds to the baseline, throughput with its tail, usage.

What is drawn over time is the first round that counts; everything else is over all rounds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import altair as alt

from httpbench.model import Run, Trial, Usage
from httpbench.report.tables import notes
from httpbench.report.tables.groups import groups
from httpbench.report.tables.overhead import differences
from httpbench.report.tables.rows import Group, Row

PERCENTILES = {"p50_us": "p50", "p90_us": "p90", "p99_us": "p99"}
ADDED = {"p50": "p50", "p90": "p90", "p99": "p99", "p99_9": "p99.9", "tm99_9": "tm99.9"}
TAIL = {"p99": "p99", "p99_9": "p99.9"}
WIDTH, HEIGHT = 640, 150
SECOND = 0.95  # with some room for samples that come early
GREY = "#999999"
_TIME = alt.X("s:Q", title="time (s)", axis=alt.Axis(grid=False))
_RIGHT = alt.Axis(orient="right", grid=False)


def charts(run: Run, trials: Sequence[Trial]) -> dict[str, Any]:
    """By file name."""
    found: dict[str, Any] = {}
    for group in groups(run, trials):
        for kind, chart in _of_group(run, group):
            found[f"{kind}-{_name(group)}"] = chart
    return found


def _of_group(run: Run, group: Group) -> Iterator[tuple[str, Any]]:
    shown = [(row, trial) for row in group.rows if (trial := _first_that_counts(row)) is not None]
    if group.load.step_s is not None and shown:
        low, high = _extent([trial for _, trial in shown])
        lines = [_over_time(row, trial, low, high) for row, trial in shown]
        yield "latency-over-time", alt.vconcat(*lines).properties(title=_title(group, "Response time against the rate, over time"))
    if usage := [_usage(row, trial) for row, trial in shown if _has_a_course(trial)]:
        yield "usage-over-time", alt.vconcat(*usage).properties(title=_title(group, "CPU and memory over time"))
    if bars := _overhead(run, group):
        yield "overhead", bars
    if group.load.rate_rps is None and shown:
        yield "throughput", _throughput(group)


def _first_that_counts(row: Row) -> Trial | None:
    return next((trial for trial in row.trials if trial.verdict.counts and trial.measurement), None)


def _extent(trials: Sequence[Trial]) -> tuple[float, float]:
    """Of all percentiles, in µs: all proxies are drawn on one scale."""
    values = [
        value
        for trial in trials
        if trial.measurement
        for interval in trial.measurement.intervals
        for field in PERCENTILES
        if (value := getattr(interval, field)) is not None
    ]
    return min(values), max(values)


def _over_time(row: Row, trial: Trial, low: float, high: float) -> Any:
    """One round of one proxy: percentiles on the left axis, the offered rate on the right."""
    assert trial.measurement is not None
    points = [
        {"s": interval.start_s, "percentile": name, "us": getattr(interval, field)}
        for interval in trial.measurement.intervals
        for field, name in PERCENTILES.items()
        if getattr(interval, field) is not None
    ]
    rates = [{"s": at, "rps": step.rate_rps} for step in trial.measurement.steps for at in (step.start_s, step.start_s + step.duration_s)]
    scale = alt.Scale(type="log", domain=[low, high], nice=True)
    lines = (
        alt.Chart(_data(points))
        .mark_line(strokeWidth=1.3)
        .encode(
            x=_TIME,
            y=alt.Y("us:Q", title="response time (µs)", scale=scale),
            color=alt.Color("percentile:N", title=None, sort=list(PERCENTILES.values())),
        )
    )
    rate = (
        alt.Chart(_data(rates))
        .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GREY)
        .encode(x=_TIME, y=alt.Y("rps:Q", title="offered (requests/s)", axis=_RIGHT))
    )
    return _beside(lines, rate, row, trial)


def _usage(row: Row, trial: Trial) -> Any:
    """One round of one proxy: CPU of the three on the left axis, memory of the proxy (of the baseline: of the backend) on the right."""
    usages = {"proxy": trial.target_usage, "backend": trial.backend_usage, "load generator": trial.generator_usage}
    cores = [{"s": at_s, "who": who, "cores": mean} for who, usage in usages.items() if usage for at_s, mean in _means(usage)]
    owner = trial.target_usage or trial.backend_usage
    memory = [{"s": sample.at_s, "mb": sample.rss_bytes / 1e6} for sample in (owner.samples if owner else ())]
    lines = (
        alt.Chart(_data(cores))
        .mark_line(strokeWidth=1.3)
        .encode(x=_TIME, y=alt.Y("cores:Q", title="CPU (cores)"), color=alt.Color("who:N", title=None, sort=list(usages)))
    )
    whose = "proxy" if trial.target_usage else "backend"
    area = (
        alt.Chart(_data(memory))
        .mark_line(strokeDash=[4, 3], strokeWidth=1.5, color=GREY)
        .encode(x=_TIME, y=alt.Y("mb:Q", title=f"memory of the {whose} (MB)", axis=_RIGHT, scale=alt.Scale(zero=True)))
    )
    return _beside(lines, area, row, trial)


def _has_a_course(trial: Trial) -> bool:
    """Whether it was long enough for a line to be drawn."""
    return trial.generator_usage is not None and len(list(_means(trial.generator_usage))) > 1


def _means(usage: Usage) -> Iterator[tuple[float, float]]:
    """Time and mean of cores over each second: the kernel counts in ticks of 10 ms, which shorter slices would show as spikes. A short
    trial has four slices all the same."""
    slice_s = min(SECOND, usage.samples[-1].at_s / 4) if usage.samples else SECOND
    begin_s, cpu_s, before_s = 0.0, 0.0, 0.0
    for sample in usage.samples:
        cpu_s += sample.cpu_cores * (sample.at_s - before_s)
        before_s = sample.at_s
        if before_s - begin_s >= slice_s > 0:
            yield before_s, cpu_s / (before_s - begin_s)
            begin_s, cpu_s = before_s, 0.0


def _beside(left: Any, right: Any, row: Row, trial: Trial) -> Any:
    title = f"{_label(row)} (round {trial.plan.round + 1})"
    return alt.layer(left, right).resolve_scale(y="independent").properties(width=WIDTH, height=HEIGHT, title=title)


def _overhead(run: Run, group: Group) -> Any:
    found = differences(group, run.baseline)
    values = [
        {
            "proxy": _label(row),
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
    if not shown:
        return None
    titled = _title(group, "Added to the baseline of the same rounds, with 95% intervals; each figure on a scale of its own")
    bars = [_added([value for value in values if value["figure"] == title], title) for title in shown]
    return alt.hconcat(*bars).properties(title=titled)


def _added(values: list[dict[str, Any]], title: str) -> Any:
    proxy = alt.X("proxy:N", title=None, sort=None, axis=alt.Axis(labels=False, ticks=False))
    base = alt.Chart(_data(values))
    bars = base.mark_bar().encode(x=proxy, y=alt.Y("us:Q", title="added (µs)"), color=alt.Color("proxy:N", title=None, sort=None))
    reach = base.mark_rule(strokeWidth=1.5).encode(x=proxy, y="low:Q", y2="high:Q")
    return alt.layer(bars, reach).properties(width=WIDTH / len(ADDED) - 45, height=2 * HEIGHT, title=title)


def _throughput(group: Group) -> Any:
    rows = [row for row in group.rows if row.counts]
    names = [_label(row) for row in rows]
    rates = [{"proxy": _label(row), "rps": row.summary.throughput_rps.median} for row in rows if row.summary.throughput_rps]
    tails = [
        {"proxy": _label(row), "figure": title, "us": estimate.median}
        for row in rows
        for field, title in TAIL.items()
        if row.latency and (estimate := getattr(row.latency, field)) is not None
    ]
    proxy = alt.X("proxy:N", title=None, sort=names, axis=alt.Axis(labelAngle=0))
    bars = (
        alt.Chart(_data(rates))
        .mark_bar(opacity=0.35, color=GREY)
        .encode(x=proxy, y=alt.Y("rps:Q", title="throughput (requests/s), bars", axis=_RIGHT))
    )
    points = (
        alt.Chart(_data(tails))
        .mark_point(size=80, filled=True, opacity=1)
        .encode(
            x=proxy,
            y=alt.Y("us:Q", title="service time (µs), points", scale=alt.Scale(type="log", nice=True)),
            color=alt.Color("figure:N", title=None, sort=list(TAIL.values())),
        )
    )
    titled = _title(group, "Throughput and tail latency: medians over rounds")
    return alt.layer(bars, points).resolve_scale(y="independent").properties(width=WIDTH, height=2 * HEIGHT, title=titled)


def _data(values: list[dict[str, Any]]) -> Any:
    return alt.Data(values=values)  # type: ignore[no-untyped-call]  # altair's own classes of data have no types


def _title(group: Group, text: str) -> Any:
    """What is drawn, and below how it was measured."""
    return alt.TitleParams(text, subtitle=_folded(notes.title(group)))


def _folded(text: str, width: int = 100) -> list[str]:
    """Lines that break at the dots."""
    lines = [""]
    for part in text.split(" · "):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} · {part}" if lines[-1] else part
    return lines


def _label(row: Row) -> str:
    return row.target.id.removeprefix(f"{row.target.kind}:")


def _name(group: Group) -> str:
    """Of a file: what tells the groups of a run apart."""
    load = group.load
    parts = [group.workload, str(group.scaling), f"{load.connections}c"]
    parts += [] if load.keepalive else ["no-keepalive"]
    parts += [f"{load.rate_rps:g}rps"] if load.rate_rps is not None else ["max"]
    return re.sub(r"[^a-z0-9.]+", "-", "-".join(parts).lower())
