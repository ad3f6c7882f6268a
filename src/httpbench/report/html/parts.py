"""What sections of a page are made of: tables, and charts with their tables. Texts are plain; the template escapes them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote

from markupsafe import Markup

from httpbench.model import VerdictKind
from httpbench.report.charts.drawing import Drawing
from httpbench.report.charts.marks import GLYPHS
from httpbench.report.charts.theme import SERIES_MAX, inline_svg

SHOWN_FIRST = 10
"""Lines of a chart that are shown at first: nobody can follow more."""

_NUMBER = re.compile(r"[(≥+−-]*\s*[\d.,]+(/[\d.,]+)?[*†)]*( ?%| [±(·].*)?")


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of texts. The first cell of each names the row."""

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Sequence[bool] = field(default=())
    """Columns that are flush right."""

    @classmethod
    def of(cls, caption: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
        """Without columns that are empty in every row. Columns of figures are found by what is in them."""
        lines = [list(row) for row in rows]
        kept = [index for index in range(len(header)) if index == 0 or any(row[index] for row in lines)]
        numbers = [index > 0 and all(_is_number(row[index]) for row in lines) for index in kept]
        return cls(caption, [header[index] for index in kept], [[row[index] for index in kept] for row in lines], numbers)


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, its table, and the lines that a reader may hide."""

    title: str
    notes: Sequence[str]
    svg: Markup
    table: Table
    series: Sequence[tuple[int, str, bool]]
    """Number of the colour, name, and whether it is shown at first."""

    @classmethod
    def of(cls, drawing: Drawing) -> Figure:
        svg = inline_svg(drawing)
        series = [
            (index % SERIES_MAX + 1, name, index < SHOWN_FIRST)
            for index, name in enumerate(drawing.series if len(drawing.series) > 1 else ())
        ]
        # What vega writes is escaped by vega; the page names it.
        svg = svg[svg.index("<svg") :].replace("<svg ", str(Markup('<svg role="img" aria-label="{}" ').format(drawing.title)), 1)
        return cls(drawing.title, drawing.notes, Markup(svg), Table.of(drawing.title, drawing.header, drawing.rows), series)


@dataclass(frozen=True, slots=True)
class Picture:
    """A chart that is a file of its own."""

    title: str
    source: str
    """Its address."""
    height: int
    """In pixels, if it is 640 wide: a page keeps the place before the chart is there."""


def _is_number(text: str) -> bool:
    plain = text.striptags() if isinstance(text, Markup) else text
    return not plain or _NUMBER.fullmatch(plain) is not None


def link(target: str, text: str) -> Markup:
    """To the section of a target."""
    return Markup('<a href="#{}">{}</a>').format(quote(target, safe="/:@+."), text)


def verdict(kind: VerdictKind, text: str | None = None) -> Markup:
    """A shape and a word."""
    return Markup('<span class="verdict {}"><span aria-hidden="true">{}</span> {}</span>').format(
        str(kind), GLYPHS[kind], text or str(kind)
    )


def struck(text: str) -> Markup:
    return Markup("<s>{}</s>").format(text)
