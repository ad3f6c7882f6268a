"""A drawing: an altair chart with a table of its data. This module also defines verdict shapes, line styles and file names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.model import Load, VerdictKind
from httpbench.report.words.numbers import figure_text
from httpbench.stats.interval import ConfidenceInterval
from httpbench.text import one_line

WIDTH, HEIGHT = 480, 150
"""Size of a plot without its axes, in pixels. At this size, labels are readable on a phone."""

LINES_MAX = 4
"""Maximum number of lines in one plot. If there are more, each line gets its own panel."""
PANEL_WIDTH, PANEL_COLUMNS = 135, 3
PANEL: dict[str, Any] = {"width": PANEL_WIDTH, "height": 85}
CUT_SHARE = 0.5
"""Share of the highest value that all values must exceed for an axis to start above zero."""

HUES = 7
"""Number of colors in a palette."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""Dash patterns that distinguish lines of the same color. The first pattern is a solid line."""

_MARKS = (
    ("●", "circle", (VerdictKind.TARGET,)),
    ("▶", "triangle-right", (VerdictKind.GENERATOR, VerdictKind.BOTH, VerdictKind.BACKEND, VerdictKind.DATABASE)),
    ("■", "square", (VerdictKind.SHARED,)),
    ("◆", "diamond", (VerdictKind.NETWORK, VerdictKind.IDLE, VerdictKind.UNKNOWN)),
    ("▲", "triangle-up", (VerdictKind.DISTURBED,)),
    ("✖", "cross", (VerdictKind.INVALID, VerdictKind.FAILED)),
)
GLYPHS = {kind: glyph for glyph, _, kinds in _MARKS for kind in kinds}
"""Shape of each verdict, so that readers can tell verdicts apart without colors. A triangle that points right means that the target may be
faster than measured."""

SHAPES = {kind: shape for _, shape, kinds in _MARKS for kind in kinds}
"""Vega's name for the shape of each verdict."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its title and its data."""

    title: str
    notes: tuple[str, ...]
    """Lines below the title: what the marks mean."""
    chart: Any
    """An altair chart without title and colors."""
    header: tuple[str, ...]
    """Header of the table. The first column contains the names of the rows."""
    rows: tuple[tuple[str, ...], ...]
    series: tuple[str, ...] = ()
    """Names of the lines that a reader can hide, in the order of their colors. Empty if no lines can be hidden."""
    place: str = ""
    """What was measured: the title of the table, or the setup. Pages that show it above the chart don't repeat it."""


def data(values: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Wrap rows of data for altair. If several parts of a chart use the same rows, altair stores them only once."""
    return {"values": list(values)}


def distinct(field: str, names: Sequence[str], *, has_legend: bool = True) -> dict[str, Any]:
    """Return encodings that give each name a color and, if another name has the same color, dashes. Colors and dashes share one legend."""
    legend = alt.Undefined if has_legend else None
    dashes = [DASHES[index // HUES % len(DASHES)] for index in range(len(names))]
    return {
        "color": alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=list(names)), legend=legend),
        "strokeDash": alt.StrokeDash(f"{field}:N", title=None, scale=alt.Scale(domain=list(names), range=dashes), legend=legend),
    }


def panels(names: Sequence[str], panel: Callable[[str], Any]) -> Any:
    """Draw a panel for each name, because many lines in one plot can't be told apart. ``panel`` returns the chart of a name."""
    titled = [panel(name).properties(title=alt.TitleParams(name, fontSize=12, limit=PANEL_WIDTH), **PANEL) for name in names]
    return alt.concat(*titled, columns=PANEL_COLUMNS, spacing=10)


def band(points: Iterable[tuple[float, float]]) -> list[dict[str, float]]:
    """Return the lowest and the highest value at each position, sorted by position. A point consists of a position and a value."""
    values: dict[float, list[float]] = {}
    for at, value in points:
        values.setdefault(at, []).append(value)
    return [{"at": at, "lowest": min(found), "highest": max(found)} for at, found in sorted(values.items())]


def scale(values: Iterable[float], title: str, padding: int = 0) -> dict[str, Any]:
    """Return the scale and the title of an axis. The axis starts at zero unless the values would then fill less than half of it.

    The title says if the axis doesn't start at zero. In this case, ``padding`` pixels separate the values from the ends of the axis.
    """
    known = list(values)
    is_cut = bool(known) and min(known) > CUT_SHARE * max(known) > 0
    return {
        "scale": alt.Scale(zero=not is_cut, nice=True, padding=padding if is_cut else 0),
        "title": f"{title}, axis cut" if is_cut else title,
    }


def wide(first: str, names: Sequence[str], points: Iterable[tuple[str, str, float]]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the header and the rows of a table with a column for each name. A point consists of a row, a column name and a value."""
    rows: dict[str, dict[str, str]] = {}
    for row, name, value in points:
        rows.setdefault(row, {})[name] = figure_text(value)
    return (first, *names), tuple((row, *(cells.get(name, "") for name in names)) for row, cells in rows.items())


def whisker(value: float, interval: ConfidenceInterval | None, unit: float = 1.0) -> dict[str, float]:
    """Return a value and the ends of its whisker in multiples of ``unit``. Without an interval, the whisker has zero length."""
    low, high = (interval.low, interval.high) if interval else (value, value)
    return {"value": value / unit, "low": low / unit, "high": high / unit}


def ends(interval: ConfidenceInterval | None, unit: float = 1.0) -> tuple[str, str]:
    """Return the ends of an interval for the table of a chart. Both ends are empty if there is no interval."""
    return (figure_text(interval.low / unit), figure_text(interval.high / unit)) if interval else ("", "")


def label(row: Row) -> str:
    """Return the name of a target for a chart, on one line."""
    name = row.target.id.removeprefix(f"{row.target.kind}:") if row.target.is_declared else row.target.title
    return one_line(name)


def file_name(group: Group) -> str:
    """Return the part of a file name that identifies a group within its run."""
    load = group.load
    generator = "" if group.load_generator == "native" else group.load_generator
    if group.client_work is not None:
        return slug([group.workload, generator])
    return slug(
        [
            *(group.workload, str(group.scaling), f"{load.connections}c", generator),
            f"{load.pipeline}-in-flight" if load.pipeline > 1 else "",
            "" if load.keepalive else "no-keepalive",
            f"{load.requests_per_connection}-per-connection" if load.requests_per_connection else "",
            _rate_part(load),
        ]
    )


def _rate_part(load: Load) -> str:
    if load.share_of_peak is not None:
        return f"{100 * load.share_of_peak:g}-percent-of-peak"
    return "max" if load.rate_rps is None else f"{load.rate_rps:g}rps"


def slug(parts: Sequence[str]) -> str:
    """Join the non-empty parts in lower case, with hyphens in place of characters that are special in a shell or a URL."""
    return re.sub(r"[^a-z0-9.]+", "-", "-".join(filter(None, parts)).lower()).strip("-")


def folded(text: str, width: int = 80) -> tuple[str, ...]:
    """Break a text at its middle dots (·) into lines of about ``width`` characters."""
    lines = [""]
    for part in text.split(" · "):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} · {part}" if lines[-1] else part
    return tuple(lines)
