"""Flame graphs as SVG: the CPU time per request of each path of calls, and its change from one profile to another.

A graph needs no script: its frames have relative widths, so it is as wide as the page. A script adds zooming by click and keyboard, and the
numbers of each frame. The Content-Security-Policy of a page with graphs allows only this script, by its hash. The outermost function is at
the top, because stacks are deep and a page starts at its top.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from markupsafe import Markup

from httpbench.analysis.profiles import Grown, Profiled
from httpbench.report.words.profiles import function_text
from httpbench.stats.frames import Area, areas
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.profiles import Growth, Path, Sampled

CHANGE_COLORS = ("less3", "less2", "less1", "same", "more1", "more2", "more3")
"""CSS classes of changes, from the largest decrease to the largest increase."""

FOLDER = "httpbench.report.html.flame"
"""Package with the style sheet and the script."""

SHARE_MIN = 0.001
"""Minimum share of the CPU time of a frame. Smaller frames are left out."""

FRAMES_MAX = 2000
"""Maximum number of frames in a graph. The smallest are left out, so that a page with two profiles stays below 2 MB."""

ROW = 18
"""Height of a frame in pixels, with the gap below it."""

NAMED_SHARE = 0.02
"""Minimum width of a frame with a visible name, as a share of the graph."""

NAME_MAX = 120
"""Maximum number of characters of a name."""

ALL = "all functions"
"""Name of the frame that contains all others."""

STRONG = (0.02, 0.05)
"""Changes from which a color is stronger, as shares of the CPU time per request of the second profile."""

MIDDLE = len(CHANGE_COLORS) // 2
"""Index of the color of frames without a significant change."""


@dataclass(frozen=True, slots=True)
class FlameGraph:
    """One graph."""

    title: str
    svg: Markup
    is_differential: bool = False
    """Whether colors show changes. Otherwise, they show areas."""


@dataclass(frozen=True, slots=True)
class _Placed:
    """A frame with its place in the graph. Sizes are shares of the width."""

    path: Path
    x: float
    width: float
    area: Area


@cache
def script() -> str:
    """Return the script of pages with graphs."""
    return files(FOLDER).joinpath("flame.js").read_text(encoding="utf-8")


def graph(profiled: Profiled, title: str) -> FlameGraph | None:
    """Draw a profile. Colors show areas. ``None``: no slice has samples and requests."""
    found = list(_placed(profiled.paths))
    if not found:
        return None
    frames = (_frame(one, one.area) for one in found)
    return FlameGraph(title, _svg(title, found, frames, profiled.paths.total_us))


def differential(grown: Grown, title: str) -> FlameGraph | None:
    """Draw the second profile. Colors show significant changes from the first one. ``None``: too few slices, or nothing to draw."""
    found = list(_placed(grown.head.paths))
    if not found or grown.slices < ROUNDS_MIN:
        return None
    changes, total_us = grown.paths, grown.head.paths.total_us
    frames = (_changed_frame(one, changes.get(one.path), total_us) for one in found)
    return FlameGraph(title, _svg(title, found, frames, total_us), is_differential=True)


def _placed(paths: Sampled[Path]) -> Iterator[_Placed]:
    """Place the frames that are large enough, callers before the functions that they call. Functions with one caller are sorted by name."""
    if not paths.total_us:
        return
    shares = {path: share for path in paths.counts if (share := paths.us(path) / paths.total_us) >= SHARE_MIN}
    # The sort is stable and callers come first, so no frame loses its caller.
    shown = sorted(shares, key=lambda path: -shares[path])[:FRAMES_MAX]
    free = [0.0]  # the position that is free next, by depth
    for path in sorted(shown):
        depth = len(path) - 1
        x, width = free[depth], shares[path]
        free[depth:] = [x + width, x]
        yield _Placed(path, x, width, list(areas(path))[-1])


def _svg(title: str, found: Sequence[_Placed], frames: Iterable[Markup], total_us: float) -> Markup:
    depth = 1 + max(len(one.path) for one in found)
    head = Markup('<svg class="flame" role="img" aria-label="{}" height="{}" data-us="{:.6g}">')
    whole = Markup('<svg class="{}" width="100%" height="{}"><rect/><text>{}</text></svg>').format(CHANGE_COLORS[MIDDLE], ROW - 1, ALL)
    return head.format(title, depth * ROW, total_us) + whole + Markup("").join(frames) + Markup("</svg>")


def _changed_frame(placed: _Placed, growth: Growth[Path] | None, total_us: float) -> Markup:
    """Return a frame with the color of its change. Frames without a significant change are gray."""
    if growth is None:
        return _frame(placed, CHANGE_COLORS[MIDDLE])
    strength = 1 + sum(abs(growth.change_us) >= share * total_us for share in STRONG)
    color = CHANGE_COLORS[MIDDLE + (strength if growth.change_us > 0 else -strength)]
    return _frame(placed, color, Markup(' data-change="{:+.3g}"').format(growth.change_us))


def _frame(placed: _Placed, color: str, data: Markup = Markup("")) -> Markup:  # noqa: B008 - immutable
    name = function_text(placed.path[-1])
    shown = name if len(name) <= NAME_MAX else f"{name[: NAME_MAX - 1]}…"
    small = "" if placed.width >= NAMED_SHARE else " small"
    return Markup('<svg class="{}{}" x="{:.3f}%" y="{}" width="{:.3f}%" height="{}"{}><rect/><text>{}</text></svg>').format(
        color, small, placed.x * 100, len(placed.path) * ROW, placed.width * 100, ROW - 1, data, shown
    )
