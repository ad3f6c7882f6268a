"""Whiskers of clients: for each table the times of all rounds, the fastest row on top.

The box reaches from the lower to the upper quartile with the median in it, the whiskers over all rounds; each round is a dot, because
five rounds are too few to be hidden behind a box. The axis begins at zero: lengths are what a reader compares.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from httpbench.model import Run, Trial
from httpbench.report.tables import notes
from httpbench.report.tables.groups import groups
from httpbench.report.tables.rows import Group

BOX = "#3a8fd0"
"""Seen on white and on black."""

ROW_HEIGHT = 26
WIDTH = 640


def charts(run: Run, trials: Sequence[Trial]) -> dict[str, Any]:
    """By file name: one for each table that has figures."""
    found = [group for group in groups(run, trials) if any(row.summary.client for row in group.rows)]
    return {f"whiskers-{group.workload}{_suffix(group, found)}": _chart(run, group) for group in found}


def _suffix(group: Group, found: Sequence[Group]) -> str:
    """What tells apart tables of one workload."""
    alike = [other for other in found if other.workload == group.workload]
    return "" if len(alike) == 1 else f"-{group.load_generator}-{alike.index(group) + 1}"


def _chart(run: Run, group: Group) -> Any:
    rows = [(row.target.id.removeprefix("client:"), row.summary.client) for row in group.rows]
    times = [{"command": name, "time_ms": time_s * 1000} for name, client in rows if client for time_s in client.times_s]
    order = [name for name, client in rows if client]
    how = f"{group.rounds} rounds, each a dot · box: quartiles and median, whiskers: all · timed by {group.load_generator}"
    place = f"{run.environment.cpu_model}, kernel {run.environment.kernel} · run {run.id}"
    title = alt.TitleParams(notes.title(group), subtitle=[how, place])
    base = alt.Chart({"values": times}).encode(
        x=alt.X("time_ms:Q", title="time of the whole process (ms)", scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=8)),
        y=alt.Y("command:N", title=None, sort=order, axis=alt.Axis(ticks=False, domain=False)),
    )
    box = base.mark_boxplot(extent="min-max", size=14, color=BOX, median={"color": "#ffffff"}, rule={"strokeWidth": 1.5}, ticks=False)
    dots = base.mark_point(filled=True, size=14, opacity=0.7)
    return alt.layer(box, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(order), title=title)
