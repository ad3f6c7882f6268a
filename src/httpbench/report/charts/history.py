"""One figure of a target over many runs: a dot and a whisker for each run, a line for each level, and its changes in words."""

from __future__ import annotations

from typing import Any

import altair as alt

from httpbench.analysis.history import Point, Series
from httpbench.report.charts.drawing import WIDTH, Drawing, data, figure_text, folded, slug
from httpbench.report.terminal.history import UNITS, change_text, date, figure_title
from httpbench.report.words.changes import commit_text
from httpbench.text import one_line

HEIGHT = 200
LABEL_ROWS = 3
"""Rows at the top for the words of changes: those of neighbours stand below each other."""
LABEL_HEIGHT = 16


def of_series(series: Series) -> Drawing:
    """The chart of a series. Runs stand side by side in the order in which they were made: the time between them says nothing."""
    unit, divisor, _ = UNITS[series.figure]
    name = figure_title(series.figure)
    title = f"{name} ({unit})" if unit else name
    scale = alt.Scale(domain=[0.5, len(series.points) + 0.5], nice=False)
    x = alt.X("run:Q", title="run", scale=scale, axis=alt.Axis(grid=False, tickMinStep=1, format="d"))
    axis = alt.Axis(format="~s") if series.figure == "rps" else alt.Axis()
    y = {channel: alt.Y(f"{channel}:Q", title=title, scale=alt.Scale(zero=False), axis=axis) for channel in ("value", "low")}
    points = alt.Chart(data(_dot(number, point, divisor) for number, point in enumerate(series.points, 1)))
    levels = [
        {"run": level.first + 0.6, "end": level.last + 1.4, "value": level.value / divisor, "level": "level"} for level in series.levels
    ]
    # Of the palette's first two colours; a legend would say no more than the notes do.
    shown = alt.Color("level:N", scale=alt.Scale(domain=["run", "level"]), legend=None)
    layers = [
        points.mark_rule(opacity=0.6).encode(x=x, y=y["low"], y2="high:Q"),
        points.mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y["value"], color=shown),
        alt.Chart(data(levels)).mark_rule(strokeWidth=2.5).encode(x=x, x2="end:Q", y=y["value"], color=shown),
    ]
    if series.changes:
        layers.append(alt.Chart(data(_marks(series))).mark_rule(strokeDash=[4, 3]).encode(x=x))
        layers += [_words(mark, number, len(series.points)).encode(x=x) for number, mark in enumerate(_marks(series))]
    return Drawing(
        title=one_line(f"{series.target}: {name}"),
        notes=(
            *folded(one_line(f"{series.title} · {series.load_generator} · {len(series.points)} runs")),
            *(one_line(f"environment: {phrase}") for phrase in series.differs),
            "dot: median over rounds · whisker: 95% interval · line: level · dashed: change, with its 95% interval",
        ),
        chart=alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        header=("Run", "Id", "Date", "Commit", title, "95% from", "to", "Rounds", "Change"),
        rows=tuple(_row(series, number, divisor) for number in range(len(series.points))),
    )


def name_of(series: Series) -> str:
    """Of its file: unlike that of any other series of the target, environments aside."""
    load = series.load
    rate = [f"{load.rate_rps:g}rps"] if load.rate_rps is not None else []
    return slug(["history", series.target, series.workload, str(series.scaling), f"{load.connections}c", *rate, series.figure])


def _dot(number: int, point: Point, divisor: float) -> dict[str, object]:
    estimate = point.estimate
    low, high = (estimate.interval.low, estimate.interval.high) if estimate.interval else (estimate.median, estimate.median)
    return {"run": number, "value": estimate.median / divisor, "low": low / divisor, "high": high / divisor, "level": "run"}


def _marks(series: Series) -> list[dict[str, Any]]:
    """Between the last run before a change and the first one after it."""
    return [{"run": change.index + 0.5, "words": change_text(change)} for change in series.changes]


def _words(mark: dict[str, Any], number: int, runs: int) -> Any:
    """Beside the mark, towards the middle of the chart, where there is room."""
    side: dict[str, Any] = {"align": "left", "dx": 4} if mark["run"] < runs / 2 else {"align": "right", "dx": -4}
    height = 8 + LABEL_HEIGHT * (number % LABEL_ROWS)
    return alt.Chart(data([mark])).mark_text(**side).encode(y=alt.value(height), text="words:N")


def _row(series: Series, number: int, divisor: float) -> tuple[str, ...]:
    point = series.points[number]
    found = [change_text(change) for change in series.changes if change.index == number]
    interval = point.estimate.interval
    bounds = ("", "") if interval is None else (figure_text(interval.low / divisor), figure_text(interval.high / divisor))
    commit = commit_text(point.git_commit) if point.git_commit else ""
    value = figure_text(point.estimate.median / divisor)
    return (str(number + 1), one_line(point.run), date(point), commit, value, *bounds, str(point.estimate.rounds), *(found or [""]))
