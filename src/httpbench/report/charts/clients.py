"""Box plots of clients and of starts: the times of all rounds, with the fastest target on top.

Each round is also drawn as a dot, because a box doesn't show how few rounds there are. The axis starts at zero, so that distances on it are
proportional to times.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import altair as alt

from httpbench.analysis.rows import Group
from httpbench.model import Run
from httpbench.report.charts.drawing import WIDTH, Drawing, data, label
from httpbench.report.words.loads import title
from httpbench.report.words.numbers import figure_text, plural
from httpbench.stats.figures import READY, WALL

BOX = "#3a8fd0"
"""Color of the boxes. It is visible on white and on black."""

ROW_HEIGHT = 26


def meaning(group: Group) -> str:
    """Return what the times of a table are."""
    return "Time to the first response" if group.load.is_of_startup else "Time of the whole process"


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the chart of a table if any row has results."""
    figure, quantity = READY if group.load.is_of_startup else WALL, meaning(group)
    known = {label(row): list(figure.rounds(row.trials).values()) for row in group.rows if row.counts}
    times_s = {name: values for name, values in known.items() if values}
    if not times_s:
        return
    times = [{"command": name, "time_ms": time_s * 1000} for name, values in times_s.items() for time_s in values]
    how = f"{plural(group.rounds, 'round')}, each a dot · box: quartiles and median, whiskers: all · timed by {group.load_generator}"
    place = f"{run.environment.cpu_model}, kernel {run.environment.kernel} · run {run.id}"
    base = alt.Chart(data(times)).encode(
        x=alt.X("time_ms:Q", title=f"{quantity.lower()} (ms)", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=8)),
        y=alt.Y("command:N", title=None, sort=list(times_s), axis=alt.Axis(ticks=False, domain=False)),
    )
    box = base.mark_boxplot(extent="min-max", size=14, color=BOX, median={"color": "#ffffff"}, rule={"strokeWidth": 1.5}, ticks=False)
    dots = base.mark_point(filled=True, size=14, opacity=0.7)
    yield (
        "whiskers",
        Drawing(
            title=quantity,
            notes=(how, place),
            place=title(group),
            chart=alt.layer(box, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(times_s)),
            header=("Command", "Median (ms)", "Lowest", "Highest", "Rounds (ms)"),
            rows=tuple(
                (
                    name,
                    *(figure_text(time_s * 1000) for time_s in (statistics.median(values), min(values), max(values))),
                    " · ".join(figure_text(time_s * 1000) for time_s in values),
                )
                for name, values in times_s.items()
            ),
        ),
    )
