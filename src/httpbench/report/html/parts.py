"""The parts of a page: tables, and charts with their tables.

The template escapes all strings except ``Markup``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from markupsafe import Markup

from httpbench.model import VerdictKind
from httpbench.report.charts.drawing import GLYPHS, Drawing
from httpbench.report.charts.theme import SERIES_MAX, inline_svg

SHOWN_FIRST = 10
"""Maximum number of chart lines that are visible before the reader changes anything."""

_NUMBER = re.compile(r"[(≥≤~+−-]*\s*[\d.,]+(/[\d.,]+)?[*†)]*( ?%| [±(·].*)?")


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """Rows of text. The first cell of each row contains the row's name."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[bool] = field(default=())
    """Whether each column is right-aligned."""

    @classmethod
    def of(cls, caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> HtmlTable:
        """Make a table without empty columns. Columns that contain only numbers are right-aligned."""
        lines = [list(row) for row in rows]
        kept = [index for index in range(len(header)) if index == 0 or any(row[index] for row in lines)]
        numbers = [index > 0 and all(_is_number(row[index]) for row in lines) for index in kept]
        return cls(caption, [header[index] for index in kept], [[row[index] for index in kept] for row in lines], numbers)


@dataclass(frozen=True, slots=True)
class HtmlFigure:
    """A chart, its table, and the lines that a reader can hide."""

    title: str
    notes: Sequence[str]
    svg: Markup
    table: HtmlTable
    series: Sequence[tuple[int, str, bool]]
    """Color index and name of each line, and whether the line is visible at first."""

    @classmethod
    def of(cls, drawing: Drawing, title: str | None = None) -> HtmlFigure:
        """Make the figure for a drawing. ``title`` replaces the drawing's title."""
        svg = inline_svg(drawing)
        series = [
            (index % SERIES_MAX + 1, name, index < SHOWN_FIRST)
            for index, name in enumerate(drawing.series if len(drawing.series) > 1 else ())
        ]
        # Vega escapes the text in its SVG, so only the label still needs escaping.
        svg = svg[svg.index("<svg") :].replace("<svg ", str(Markup('<svg role="img" aria-label="{}" ').format(drawing.title)), 1)
        return cls(title or drawing.title, drawing.notes, Markup(svg), HtmlTable.of(drawing.title, drawing.header, drawing.rows), series)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart in a separate file."""

    title: str
    source: str
    """Address of the file."""
    height: int
    """Height in pixels at a width of 640 pixels. The page reserves this space until the chart has loaded."""


def _is_number(text: str) -> bool:
    plain = text.striptags() if isinstance(text, Markup) else text
    return not plain or _NUMBER.fullmatch(plain) is not None


def link(target: str, text: str) -> Markup:
    """Return a link to the section of a target."""
    return Markup('<a href="#{}">{}</a>').format(quote(target, safe="/:@+."), text)


def verdict(kind: VerdictKind, text: str | None = None) -> Markup:
    """Return a verdict as a shape followed by a word."""
    return Markup('<span class="verdict {}"><span aria-hidden="true">{}</span> {}</span>').format(
        str(kind), GLYPHS[kind], text or str(kind)
    )


def struck(text: str) -> Markup:
    """Return struck-through text."""
    return Markup("<s>{}</s>").format(text)
