"""Box plots of clients: the times of all rounds, with the fastest client on top.

Each round is also drawn as a dot, because a box doesn't show how few rounds there are. The axis starts at zero, so that distances on it are
proportional to times.
"""

from __future__ import annotations

from collections.abc import Iterator

import altair as alt

from httpbench.analysis.rows import Group
from httpbench.model import Run
from httpbench.report.charts.drawing import WIDTH, Drawing, data, folded, label
from httpbench.report.words.loads import title
from httpbench.report.words.numbers import figure_text, plural

BOX = "#3a8fd0"
"""Color of the boxes. It is visible on white and on black."""

ROW_HEIGHT = 26


def of_group(run: Run, group: Group) -> Iterator[tuple[str, Drawing]]:
    """Yield the chart of a table if any row has results."""
    clients = {label(row): row.summary.client for row in group.rows if row.summary.client}
    if not clients:
        return
    times = [{"command": name, "time_ms": time_s * 1000} for name, client in clients.items() for time_s in client.times_s]
    how = f"{plural(group.rounds, 'round')}, each a dot · box: quartiles and median, whiskers: all · timed by {group.load_generator}"
    place = f"{run.environment.cpu_model}, kernel {run.environment.kernel} · run {run.id}"
    base = alt.Chart(data(times)).encode(
        x=alt.X("time_ms:Q", title="time of the whole process (ms)", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=8)),
        y=alt.Y("command:N", title=None, sort=list(clients), axis=alt.Axis(ticks=False, domain=False)),
    )
    box = base.mark_boxplot(extent="min-max", size=14, color=BOX, median={"color": "#ffffff"}, rule={"strokeWidth": 1.5}, ticks=False)
    dots = base.mark_point(filled=True, size=14, opacity=0.7)
    yield (
        "whiskers",
        Drawing(
            title="Time of the whole process",
            notes=(*folded(title(group)), how, place),
            chart=alt.layer(box, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(clients)),
            header=("Command", "Median (ms)", "Lowest", "Highest", "Rounds (ms)"),
            rows=tuple(
                (
                    name,
                    *(figure_text(time_s * 1000) for time_s in (client.median_s, client.min_s, client.max_s)),
                    " · ".join(figure_text(time_s * 1000) for time_s in client.times_s),
                )
                for name, client in clients.items()
            ),
        ),
    )
