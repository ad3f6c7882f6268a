"""Chart of one metric of a target over many runs: a dot and a whisker for each run, a line for each level, and labels for changes."""

from __future__ import annotations

from typing import Any

import altair as alt

from httpbench.analysis.history import Series
from httpbench.report.charts.drawing import WIDTH, Drawing, data, ends, scale, slug, whisker
from httpbench.report.words.changes import figure_title
from httpbench.report.words.history import UNITS, column_title, environment_notes, level_change_text, series_load
from httpbench.report.words.numbers import commit_text, figure_text, minute
from httpbench.text import one_line

HEIGHT = 200
LABEL_ROWS = 3
"""Number of rows for the labels of changes, so that neighboring labels don't overlap."""
LABEL_HEIGHT = 16


def of_series(series: Series) -> Drawing:
    """Draw a series. Runs are evenly spaced, because the time between them doesn't matter."""
    unit = UNITS[series.figure][1]
    title = column_title(series)
    runs = alt.Scale(domain=[0.5, len(series.points) + 0.5], nice=False)
    x = alt.X("run:Q", title="run", scale=runs, axis=alt.Axis(grid=False, tickMinStep=1, format="d"))
    axis = alt.Axis(format="~s") if series.figure == "rps" else alt.Axis()
    estimates = [point.estimate for point in series.points]
    scaled = scale((each.interval.low / unit if each.interval else each.median / unit for each in estimates), title)
    y = {channel: alt.Y(f"{channel}:Q", axis=axis, **scaled) for channel in ("value", "low")}
    dots = [{"run": number, "level": "run", **whisker(each.median, each.interval, unit)} for number, each in enumerate(estimates, 1)]
    levels = [{"run": level.first + 0.6, "end": level.last + 1.4, "value": level.value / unit, "level": "level"} for level in series.levels]
    marks = [{"run": change.index + 0.5, "words": level_change_text(change)} for change in series.changes]
    # Runs and levels get the first two colors of the palette. The notes explain the marks, so there is no legend.
    shown = alt.Color("level:N", scale=alt.Scale(domain=["run", "level"]), legend=None)
    points = alt.Chart(data(dots))
    layers = [
        points.mark_rule(opacity=0.6).encode(x=x, y=y["low"], y2="high:Q"),
        points.mark_point(filled=True, size=30, opacity=1).encode(x=x, y=y["value"], color=shown),
        alt.Chart(data(levels)).mark_rule(strokeWidth=2.5).encode(x=x, x2="end:Q", y=y["value"], color=shown),
    ]
    if marks:
        layers.append(alt.Chart(data(marks)).mark_rule(strokeDash=[4, 3]).encode(x=x))
        layers += [_words(mark, number, len(series.points)).encode(x=x) for number, mark in enumerate(marks)]
    return Drawing(
        title=one_line(f"{series.target}: {figure_title(series.figure)}"),
        notes=(
            *map(one_line, environment_notes(series)),
            "dot: median over rounds · whisker: 95% interval · line: level · dashed: change, with its 95% interval",
        ),
        place=f"{series_load(series)} · {series.load_generator} · {len(series.points)} runs",
        chart=alt.layer(*layers).properties(width=WIDTH, height=HEIGHT),
        header=("Run", "Id", "Date", "Commit", title, "95% from", "to", "Rounds", "Change"),
        rows=tuple(_row(series, index, unit) for index in range(len(series.points))),
    )


def name_of(series: Series) -> str:
    """Return the file name of a series. Two series have the same name only if their environments differ."""
    load = series.load
    rate = [f"{load.rate_rps:g}rps"] if load.rate_rps is not None else []
    return slug(["history", series.target, series.workload, str(series.scaling), f"{load.connections}c", *rate, series.figure])


def _words(mark: dict[str, Any], number: int, runs: int) -> Any:
    """Draw the label of a change on the side of the line that faces the middle of the chart, where there is more room."""
    side: dict[str, Any] = {"align": "left", "dx": 4} if mark["run"] < runs / 2 else {"align": "right", "dx": -4}
    height = 8 + LABEL_HEIGHT * (number % LABEL_ROWS)
    return alt.Chart(data([mark])).mark_text(**side).encode(y=alt.value(height), text="words:N")


def _row(series: Series, index: int, unit: float) -> tuple[str, ...]:
    point = series.points[index]
    return (
        str(index + 1),
        one_line(point.run),
        minute(point.started_at),
        commit_text(point.git_commit) if point.git_commit else "",
        figure_text(point.estimate.median / unit),
        *ends(point.estimate.interval, unit),
        str(point.estimate.rounds),
        next((level_change_text(change) for change in series.changes if change.index == index), ""),
    )
