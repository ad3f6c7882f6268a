"""What a chart is here: something that altair draws, and the table of the same data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import altair as alt

from httpbench.analysis.rows import Group, Row
from httpbench.text import one_line

WIDTH, HEIGHT = 480, 150
"""Of a plot without its axes, in pixels: its labels can still be read on a telephone."""

HUES = 7
"""Colours of a palette."""

DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""Solid, and what tells lines of one hue apart."""


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart with its title and its figures."""

    title: str
    notes: tuple[str, ...]
    """Below the title, a line each: how it was measured, and what the marks mean."""
    chart: Any
    """Of altair, without title and colours."""
    header: tuple[str, ...]
    """Of the table. The first column names the row, the others are figures."""
    rows: tuple[tuple[str, ...], ...]
    series: tuple[str, ...] = ()
    """Names of the lines, in the order of their colours, where a reader may hide some. Empty: no choice."""


def data(values: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """Rows of data for altair, which keeps rows that are used twice once."""
    return {"values": list(values)}


def colour(field: str, names: Sequence[str], *, has_legend: bool = True) -> Any:
    """A colour for each name, in their order."""
    legend = alt.Undefined if has_legend else None
    return alt.Color(f"{field}:N", title=None, scale=alt.Scale(domain=list(names)), legend=legend)


def dash(field: str, names: Sequence[str], *, has_legend: bool = True) -> Any:
    """Solid lines for the first names, dashed ones for those whose colour was used before. Its legend is one with that of the colours."""
    dashes = [DASHES[index // HUES % len(DASHES)] for index in range(len(names))]
    return alt.StrokeDash(
        f"{field}:N", title=None, scale=alt.Scale(domain=list(names), range=dashes), legend=alt.Undefined if has_legend else None
    )


def wide(
    first: str, names: Sequence[str], points: Iterable[tuple[str, str, float | None]]
) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """Header and rows of a table with a column for each name. Points: the row, the name and the figure; rows in the order of the points."""
    rows: dict[str, dict[str, str]] = {}
    for row, name, value in points:
        rows.setdefault(row, {})[name] = "" if value is None else figure_text(value)
    return (first, *names), [(row, *(cells.get(name, "") for name in names)) for row, cells in rows.items()]


def figure_text(value: float) -> str:
    """Four significant digits: ``0.2024``, ``10.64``, ``412,300``, never with an exponent."""
    rounded = float(f"{value:.4g}")
    return f"{rounded:,.0f}" if abs(rounded) >= 1000 else f"{rounded:f}".rstrip("0").rstrip(".")


def label(row: Row) -> str:
    """The name of a target in a chart, on one line."""
    name = row.target.id.removeprefix(f"{row.target.kind}:") if row.target.is_declared else row.target.title
    return one_line(name)


def file_name(group: Group) -> str:
    """What tells the groups of a run apart, as a part of a file's name."""
    load = group.load
    own = [] if group.load_generator == "native" else [group.load_generator]
    if group.client_work is not None:
        return slug([group.workload, *own])
    parts = [group.workload, str(group.scaling), f"{load.connections}c", *own]
    parts += [f"{load.pipeline}-in-flight"] if load.pipeline > 1 else []
    parts += [] if load.keepalive else ["no-keepalive"]
    parts += [f"{load.requests_per_connection}-per-connection"] if load.requests_per_connection else []
    parts += [f"{load.rate_rps:g}rps"] if load.rate_rps is not None else ["max"]
    return slug(parts)


def slug(parts: Sequence[str]) -> str:
    """Lower case and no character that a shell or a URL would take for something else."""
    return re.sub(r"[^a-z0-9.]+", "-", "-".join(parts).lower()).strip("-")


def folded(text: str, width: int = 80) -> tuple[str, ...]:
    """Lines that break at the dots."""
    lines = [""]
    for part in text.split(" · "):
        if lines[-1] and len(lines[-1]) + len(part) > width:
            lines.append("")
        lines[-1] = f"{lines[-1]} · {part}" if lines[-1] else part
    return tuple(lines)
