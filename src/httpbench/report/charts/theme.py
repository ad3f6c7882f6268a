"""How charts look: two palettes of the same hues, one for light pages and one for dark ones, both told apart by the colour-blind.

The hues are those of Okabe and Ito («Color universal design», 2008), a little lighter on dark ground.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

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


def save(chart: Any, folder: Path, name: str) -> list[Path]:
    """Writes a chart in both themes and both formats; the files."""
    paths = []
    for theme, colours in THEMES.items():
        themed = _themed(chart, colours)
        for suffix, options in (("svg", {}), ("png", {"scale_factor": PNG_SCALE})):
            path = folder / f"{name}-{theme}.{suffix}"
            themed.save(str(path), **options)
            paths.append(path)
    return paths


def _themed(chart: Any, colours: dict[str, Any]) -> Any:
    ink, faint = colours["ink"], colours["faint"]
    return (
        chart.configure(background=colours["background"], font="sans-serif", padding=12)
        .configure_axis(labelColor=ink, titleColor=ink, gridColor=faint, domainColor=ink, tickColor=ink, titleFontWeight="normal")
        .configure_legend(labelColor=ink, titleColor=ink)
        .configure_header(labelColor=ink, titleColor=ink)
        .configure_title(color=ink, subtitleColor=ink, anchor="start", fontSize=14)
        .configure_range(category=colours["hues"])
        .configure_view(stroke=None)
        .configure_rule(color=ink)
        .configure_text(color=ink)
        .configure_point(color=ink)
    )
