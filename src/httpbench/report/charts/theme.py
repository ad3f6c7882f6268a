"""The themes of charts: one for light pages, one for dark pages, and one for pages whose style sheet sets the colors.

The hues are those of Okabe and Ito ("Color Universal Design", 2008), which color-blind people can distinguish. They are slightly lighter
on dark pages.
"""

from __future__ import annotations

import io
import re
import textwrap
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from httpbench.report.charts.drawing import Drawing, folded
from httpbench.text import one_line

PNG_SCALE = 2

LIGHT = {
    "background": "#ffffff",
    "ink": "#1f2328",
    "faint": "#d8dee4",
    "hues": ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#8a6d00", "#56b4e9", "#5b5b5b"],
}
DARK = {
    "background": "#0d1117",
    "ink": "#e6edf3",
    "faint": "#30363d",
    "hues": ["#4aa8e0", "#ff8c42", "#2fcf9f", "#e7a3cb", "#e6c229", "#8fd3ff", "#b0b8c0"],
}
THEMES: dict[str, dict[str, Any]] = {"light": LIGHT, "dark": DARK}

FONT_SIZE = 12
NOTE_WIDTH = 90
"""Maximum width of a line below a title, in characters."""

PADDING = {"left": 40, "right": 24, "top": 8, "bottom": 8}
"""Space around a chart in pixels. Fonts differ between browsers, so it leaves room for labels in wide ones."""

LEGEND: dict[str, Any] = {"orient": "top", "columns": 3, "labelLimit": 150}
"""Settings that place the legend above the plot, because a narrow page has no room next to the plot."""

SERIES_MAX = 96
"""Number of colors that a page can set individually. If a chart has more lines, colors repeat."""

PAGE: dict[str, Any] = {
    "background": "transparent",
    "ink": "var(--ink)",
    "faint": "var(--faint)",
    "hues": [f"var(--series-{number})" for number in range(1, SERIES_MAX + 1)],
    "aria": False,  # the page has a label and a table for each chart
}
"""Theme whose colors are CSS custom properties. The reader's setting selects light or dark colors. If the reader hides a line, the
style sheet makes the line's color transparent."""


_UNSEEN = re.compile(
    r'<path class="(?:back|fore)ground"[^<>]*/>| (?:aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"'
    r'| (?:xmlns:xlink|class|font-family)="[^"]*"'
    r'| (?:opacity|stroke-width|stroke-opacity|fill-opacity)="1"| (?:x2|y2)="0"| font-size="12px"'
)
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_DECIMALS = re.compile(r"(\.\d)\d+")


def save(drawing: Drawing, folder: Path, name: str, *, png: bool = True) -> list[Path]:
    """Write a chart in both themes as SVG and PNG, and return the files."""
    paths = []
    notes = (line for note in drawing.notes for line in textwrap.wrap(one_line(note), NOTE_WIDTH))
    titled = drawing.chart.properties(title=alt.TitleParams(one_line(drawing.title), subtitle=[*folded(one_line(drawing.place)), *notes]))
    for theme, colors in THEMES.items():
        svg = _svg(titled, colors)
        paths.append(folder / f"{name}-{theme}.svg")
        paths[-1].write_text(svg, encoding="utf-8")
        if png:
            paths.append(folder / f"{name}-{theme}.png")
            paths[-1].write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
    return paths


def inline_svg(drawing: Drawing) -> str:
    """Return the SVG of a drawing for use in a page, with the colors of ``PAGE``.

    The SVG has no title. If a reader can hide lines, it has no legend either, because the page lists the lines next to their checkboxes.
    """
    return _compact(_svg(drawing.chart, PAGE, has_legend=not drawing.series))


def svg_file(drawing: Drawing) -> str:
    """Return a standalone SVG that follows the reader's preference for light or dark colors."""
    svg = _compact(_svg(drawing.chart, PAGE))
    return svg.replace(">", f"><style>svg{{font:{FONT_SIZE}px Arial,Helvetica,sans-serif}}{style()}</style>", 1)


def _compact(svg: str) -> str:
    """Halve the size of an SVG by rounding positions to a tenth of a pixel and removing invisible elements and defaults."""
    svg = _UNSEEN.sub("", svg)
    return _PLACES.sub(lambda match: _DECIMALS.sub(r"\1", match[0]), svg)


def style() -> str:
    """Return a style sheet that sets the CSS custom properties of ``PAGE`` for light and dark pages."""
    return f":root {{{_declared(LIGHT)}}}\n@media (prefers-color-scheme: dark) {{:root {{{_declared(DARK)}}}}}\n"


def _declared(colors: dict[str, Any]) -> str:
    hues = colors["hues"]
    series = [f"--series-{number + 1}:{hues[number % len(hues)]}" for number in range(SERIES_MAX)]
    plain = [f"--{name}:{colors[name]}" for name in ("background", "ink", "faint")]
    return ";".join((*plain, *series))


def _svg(chart: Any, colors: dict[str, Any], *, has_legend: bool = True) -> str:
    ink, faint = colors["ink"], colors["faint"]
    themed = (
        chart.configure(background=colors["background"], font="sans-serif", padding=PADDING, aria=colors.get("aria", True))
        .configure_axis(
            labelFontSize=FONT_SIZE,
            labelSeparation=FONT_SIZE / 2,
            titleFontSize=FONT_SIZE,
            labelColor=ink,
            titleColor=ink,
            gridColor=faint,
            domainColor=ink,
            tickColor=ink,
            titleFontWeight="normal",
        )
        .configure_legend(**LEGEND, labelFontSize=FONT_SIZE, labelColor=ink, titleColor=ink)
        .configure_title(color=ink, subtitleColor=ink, anchor="start", fontSize=14)
        .configure_range(category=colors["hues"])
        .configure_view(stroke=None)
        .configure_rule(color=ink)
        .configure_rect(color=colors["hues"][0])
        .configure_bar(color=colors["hues"][0])
        .configure_line(color=colors["hues"][0])
        .configure_area(color=faint)
        .configure_text(color=ink)
        .configure_point(color=ink)
    )
    if not has_legend:
        themed.config["legend"]["disable"] = True  # legends that a chart configures itself, such as those of shapes, stay visible
    text = io.StringIO()
    themed.save(text, format="svg")
    return text.getvalue()
