"""Charts of the changes from one run to another, one chart per metric.

A dot shows a change, and its whisker shows the confidence interval. The largest change is at the top.
"""

from __future__ import annotations

import math

import altair as alt

from httpbench.analysis.changes import Changes
from httpbench.report.charts.drawing import WIDTH, Drawing, data, whisker
from httpbench.report.words.changes import figure_title, value_text
from httpbench.report.words.gates import ratio_text
from httpbench.report.words.loads import place
from httpbench.stats.unpaired import Change
from httpbench.text import one_line

ROW_HEIGHT = 24
SIGNIFICANT, NOT = "significant", "no significant difference"


def chart_title(name: str) -> str:
    """Return the chart title for a metric."""
    return f"{figure_title(name)}: change from base to head"


def of_figure(found: Changes, name: str) -> Drawing | None:
    """Draw the changes in one metric, or return ``None`` if no cell has that metric."""
    known = [(one_line(place(cell)), cell.figures[name]) for cell in found.cells if name in cell.figures]
    known.sort(key=lambda pair: -abs(math.log(pair[1].ratio)))
    if not known:
        return None
    points = [
        {"place": where, "claim": _claim(change), **{name: ratio - 1 for name, ratio in whisker(change.ratio, change.interval).items()}}
        for where, change in known
    ]
    y = alt.Y("place:N", title=None, sort=[where for where, _ in known], axis=alt.Axis(ticks=False, domain=False, labelLimit=220))
    shape = alt.Shape("claim:N", title=None, scale=alt.Scale(domain=[SIGNIFICANT, NOT], range=["circle", "diamond"]))
    x = {channel: alt.X(f"{channel}:Q", title="change", axis=alt.Axis(format="+%")) for channel in ("at", "value", "low")}
    base = alt.Chart(data(points)).encode(y=y)
    zero = alt.Chart(data([{"at": 0}])).mark_rule(strokeDash=[4, 3]).encode(x=x["at"])
    whiskers = base.mark_rule(strokeWidth=2).encode(x=x["low"], x2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=x["value"], shape=shape)
    return Drawing(
        title=chart_title(name),
        notes=("dot: ratio of geometric means over rounds · whisker: 95% interval",),
        chart=alt.layer(zero, whiskers, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(known)),
        header=("Target and load", "Base", "Head", "Change", "95% from", "to", "Claim"),
        rows=tuple(
            (
                where,
                value_text(name, change.base),
                value_text(name, change.head),
                ratio_text(change.ratio),
                *((ratio_text(change.interval.low), ratio_text(change.interval.high)) if change.interval else ("", "")),
                _claim(change),
            )
            for where, change in known
        ),
    )


def _claim(change: Change) -> str:
    return SIGNIFICANT if change.differs else NOT
