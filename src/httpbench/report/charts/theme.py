"""How charts look: palettes of the same hues for light pages, for dark ones, and for pages whose style sheet decides.

The hues are those of Okabe and Ito («Color universal design», 2008), a little lighter on dark ground: told apart by the colour-blind.
"""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import altair as alt
import vl_convert

from httpbench.report.charts.drawing import Drawing
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

LEGEND: dict[str, Any] = {"orient": "top", "columns": 3, "labelLimit": 150}
"""Above the plot: beside it, a narrow page would have no room."""

SERIES_MAX = 96
"""Colours of a page that can be set one by one; more lines share them."""

PAGE: dict[str, Any] = {
    "background": "transparent",
    "ink": "var(--ink)",
    "faint": "var(--faint)",
    "hues": [f"var(--series-{number})" for number in range(1, SERIES_MAX + 1)],
    # Fonts of browsers differ, and wide ones must not be cut off or cover each other.
    "padding": {"left": 40, "right": 24, "top": 8, "bottom": 8},
    "title_padding": 16,
    "aria": False,  # the page names the chart and has its figures as a table
}
"""Custom properties of CSS: the reader's setting decides between light and dark, and a line is hidden by setting its colour."""


_UNSEEN = re.compile(
    r'<path class="(?:back|fore)ground"[^>]*/>| (?:aria-hidden|aria-roledescription|role|pointer-events)="[^"]*"'
    r'| (?:xmlns:xlink|class|font-family)="[^"]*"'
    r'| (?:opacity|stroke-width|stroke-opacity|fill-opacity)="1"| (?:x2|y2)="0"| font-size="12px"'
)
_PLACES = re.compile(r' (?:d|transform)="[^"]*"')
_DECIMALS = re.compile(r"(\.\d)\d+")


def save(drawing: Drawing, folder: Path, name: str, *, png: bool = True) -> list[Path]:
    """Writes a chart in both themes, as SVG and as PNG; the files."""
    paths = []
    titled = drawing.chart.properties(title=alt.TitleParams(one_line(drawing.title), subtitle=list(map(one_line, drawing.notes))))
    for theme, colours in THEMES.items():
        svg = _svg(_themed(titled, colours))
        paths.append(folder / f"{name}-{theme}.svg")
        paths[-1].write_text(svg, encoding="utf-8")
        if png:
            paths.append(folder / f"{name}-{theme}.png")
            paths[-1].write_bytes(vl_convert.svg_to_png(svg, scale=PNG_SCALE))
    return paths


def inline_svg(drawing: Drawing) -> str:
    """The chart for a page, with the properties of ``PAGE`` as colours, and without title. A legend that the page makes is left out."""
    themed = _themed(drawing.chart, PAGE)
    if drawing.series:
        themed.config["legend"]["disable"] = True  # shapes and widths keep theirs
    return _compact(_svg(themed))


def svg_file(drawing: Drawing) -> str:
    """The chart as an SVG of its own, with the colours that the reader prefers: a page shows it as a picture."""
    svg = _compact(_svg(_themed(drawing.chart, PAGE)))
    return svg.replace(">", f"><style>svg{{font:{FONT_SIZE}px Arial,Helvetica,sans-serif}}{style()}</style>", 1)


def _svg(chart: Any) -> str:
    text = io.StringIO()
    chart.save(text, format="svg")
    return text.getvalue()


def _compact(svg: str) -> str:
    """Half as long: places to a tenth of a pixel, without elements that show nothing, and without what a browser or the page's style sheet
    assumes anyway."""
    svg = _UNSEEN.sub("", svg)
    return _PLACES.sub(lambda match: _DECIMALS.sub(r"\1", match[0]), svg)


def style() -> str:
    """Declarations of the properties of ``PAGE``, for a style sheet: light ones, and dark ones where the reader prefers them."""
    return f":root {{{_declared(LIGHT)}}}\n@media (prefers-color-scheme: dark) {{:root {{{_declared(DARK)}}}}}\n"


def _declared(colours: dict[str, Any]) -> str:
    hues = colours["hues"]
    series = [f"--series-{number + 1}:{hues[number % len(hues)]}" for number in range(SERIES_MAX)]
    plain = [f"--{name}:{colours[name]}" for name in ("background", "ink", "faint")]
    return ";".join((*plain, *series))


def _themed(chart: Any, colours: dict[str, Any]) -> Any:
    ink, faint = colours["ink"], colours["faint"]
    return (
        chart.configure(
            background=colours["background"], font="sans-serif", padding=colours.get("padding", 12), aria=colours.get("aria", True)
        )
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
        .configure_header(labelColor=ink, titleColor=ink)
        .configure_title(color=ink, subtitleColor=ink, anchor="start", fontSize=14)
        .configure_range(category=colours["hues"])
        .configure_view(stroke=None)
        .configure_rule(color=ink)
        .configure_rect(color=colours["hues"][0])
        .configure_text(color=ink)
        .configure_point(color=ink)
    )
