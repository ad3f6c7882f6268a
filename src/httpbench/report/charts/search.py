"""The curve of a search: latency against the offered rate, with the service level and the highest rate that meets it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import altair as alt

from httpbench.model import FIRST_BYTE, Bound, Run, Trial
from httpbench.report.charts.drawing import HEIGHT, WIDTH, Drawing, data, scale
from httpbench.report.words import curves
from httpbench.report.words.numbers import figure_name
from httpbench.stats.level import Saturation, held_in_most, saturation

HELD, FAILED = "SLO held", "SLO failed"
SHAPES = ("circle", "cross", "diamond")
"""Shapes of held rates, failed rates and medians."""


def of_search(run: Run, trials: Sequence[Trial]) -> dict[str, Drawing]:
    """Draw the curve, and return it by its file name. If fewer than two rates have valid trials, return an empty dict."""
    if run.search is None or not trials:
        return {}
    found = saturation(run.search, trials)
    bound = run.search.level.bounds[0]
    points = [
        {"rate": point.rate_rps, "ms": us / 1000, "what": HELD if held_in_most(point) else FAILED}
        for point in found.curve
        if (us := point.times_us.get(bound.figure)) is not None
    ]
    if len(points) < 2:
        return {}
    median = curves.median_beside(bound.figure)
    medians = [
        {"rate": point.rate_rps, "ms": us / 1000, "what": figure_name(median)}
        for point in found.curve
        if (us := point.times_us.get(median))
    ]
    table = curves.table(found, curves.figures(run.search))
    name = figure_name(bound.figure)
    level = f"level: SLO {name} < {bound.limit_us / 1000:g} ms"
    keys = f"{name} and {figure_name(median)} · {level} · band: range of the highest rate that meets it"
    drawing = Drawing(
        title=f"Latency ({name}) against the offered rate",
        notes=(keys,),
        place=curves.title(run, trials),
        chart=_chart(points, medians, bound, found),
        header=tuple(table.headings),
        rows=tuple(map(tuple, table.rows)),
    )
    return {"latency-against-rate": drawing}


def _chart(points: list[dict[str, Any]], medians: list[dict[str, Any]], bound: Bound, found: Saturation) -> Any:
    kinds = [HELD, FAILED, figure_name(curves.median_beside(bound.figure))]
    times = "time to the first byte (ms, log scale)" if bound.figure.startswith(FIRST_BYTE) else "response time (ms, log scale)"
    rates = [point["rate"] for point in [*points, *medians]]
    x = alt.X("rate:Q", **scale(rates, "offered rate (requests/s)", padding=10))
    y = alt.Y("ms:Q", title=times, scale=alt.Scale(type="log", nice=True), axis=alt.Axis(tickCount=5))
    legend = alt.Legend(orient="top")
    encoded: dict[str, Any] = {
        "x": x,
        "y": y,
        "shape": alt.Shape("what:N", title=None, scale=alt.Scale(domain=kinds, range=list(SHAPES)), legend=legend),
        "color": alt.Color("what:N", title=None, scale=alt.Scale(domain=kinds), legend=legend),
    }
    marks = alt.Chart(data([*points, *medians])).mark_point(filled=True, size=70, opacity=0.9).encode(**encoded)
    line = alt.Chart(data(points)).mark_line(strokeWidth=1, opacity=0.6).encode(x=x, y=y)
    level = alt.Chart(data([{"ms": bound.limit_us / 1000}])).mark_rule(strokeDash=[5, 4]).encode(y="ms:Q")
    layers = [level, line, marks]
    if found.rate_rps is not None:
        low = found.rate_low_rps if found.rate_low_rps is not None else found.rate_rps
        high = next((rate for rate in (found.rate_high_rps, found.rate_failed_rps) if rate is not None), found.rate_rps)
        band = alt.Chart(data([{"low": low, "high": high}])).mark_rect(opacity=0.2).encode(x="low:Q", x2="high:Q")
        best = alt.Chart(data([{"rate": found.rate_rps}])).mark_rule(strokeWidth=2).encode(x="rate:Q")
        layers = [band, best, *layers]
    return alt.layer(*layers).properties(width=WIDTH, height=2 * HEIGHT)
