"""Changes from one run to another: for each metric, a dot and an interval whisker per change, the largest change first."""

from __future__ import annotations

import math

import altair as alt

from httpbench.analysis.changes import Changes
from httpbench.report.charts.drawing import WIDTH, Drawing, data
from httpbench.report.words.changes import figure_title, value_text
from httpbench.report.words.loads import place
from httpbench.text import one_line

ROW_HEIGHT = 24
SIGNIFICANT, NOT = "significant", "no significant difference"


def chart_title(name: str) -> str:
    """Return the title of the chart of a metric."""
    return f"{figure_title(name)}: change from base to head"


def of_figure(found: Changes, name: str) -> Drawing | None:
    """Draw the changes of one metric, or return ``None`` if no cell has it."""
    known = [(one_line(place(cell)), cell.figures[name]) for cell in found.cells if name in cell.figures]
    known.sort(key=lambda pair: -abs(math.log(pair[1].ratio)))
    if not known:
        return None
    points = [
        {
            "place": where,
            "change": change.ratio - 1,
            "low": (change.interval.low if change.interval else change.ratio) - 1,
            "high": (change.interval.high if change.interval else change.ratio) - 1,
            "claim": SIGNIFICANT if change.differs else NOT,
        }
        for where, change in known
    ]
    title = chart_title(name)
    axis = alt.Axis(format="+%")
    y = alt.Y("place:N", title=None, sort=[where for where, _ in known], axis=alt.Axis(ticks=False, domain=False, labelLimit=220))
    shape = alt.Shape("claim:N", title=None, scale=alt.Scale(domain=[SIGNIFICANT, NOT], range=["circle", "diamond"]))
    zero = alt.Chart(data([{"at": 0}])).mark_rule(strokeDash=[4, 3]).encode(x=alt.X("at:Q", title="change", axis=axis))
    base = alt.Chart(data(points)).encode(y=y)
    whiskers = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", title="change", axis=axis), x2="high:Q")
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(x=alt.X("change:Q", title="change", axis=axis), shape=shape)
    return Drawing(
        title=title,
        notes=("dot: ratio of geometric means over rounds · whisker: 95% interval",),
        chart=alt.layer(zero, whiskers, dots).properties(width=WIDTH, height=ROW_HEIGHT * len(known)),
        header=("Target and load", "Base", "Head", "Change", "95% from", "to", "Claim"),
        rows=tuple(
            (
                where,
                value_text(name, change.base),
                value_text(name, change.head),
                f"{point['change']:+.1%}",
                *((f"{point['low']:+.1%}", f"{point['high']:+.1%}") if change.interval else ("", "")),
                str(point["claim"]),
            )
            for point, (where, change) in zip(points, known, strict=True)
        ),
    )
