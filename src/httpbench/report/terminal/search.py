"""A search for the highest rate on a terminal: the result, its curve in characters, and the rates that count."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.model import Run, Search, Trial
from httpbench.report.terminal.grid import Cells, column, fitted
from httpbench.report.words import brief, curves, notes
from httpbench.report.words.chosen import View
from httpbench.report.words.columns import ALWAYS
from httpbench.stats.level import Saturation, saturation

NEEDS = {"mean": 5, "p90": 4, "p99.9": 3, "max": 6}
"""How soon a narrow terminal goes without a column."""

NOTE_MIN = 16
"""Characters of a note, before it is folded."""


def render_search(run: Run, trials: Sequence[Trial], width: int, view: View) -> RenderableType:
    """For a console of ``width`` columns."""
    search = run.search
    assert search is not None
    result = saturation(search, trials)
    parts: list[RenderableType] = [] if view.explain else [Text(brief.heading(run), style="dim", no_wrap=True, overflow="ellipsis"), Text()]
    parts += [Text(curves.title(run, trials), style="bold"), Text(curves.method(search, trials), style="dim"), Text()]
    parts += [Text(line, no_wrap=True) for line in curves.curve(search, result, width)]
    parts += [Text(), *fitted(_cells(search, result, view), width), Text()]
    parts += [Text(line, style="bold", overflow="fold") for line in curves.sentences(search, result, trials)]
    below = notes.origin(run, trials) if view.explain else list(notes.status(run, trials))
    return Stack(*parts, Text(), *(Text(line, style="dim") for line in below))


def _cells(search: Search, result: Saturation, view: View) -> list[Cells]:
    """The columns that a reader sees, by default those that the service level is about."""
    header, rows = curves.table(search, result)
    texts = dict(zip(curves.NAMES, zip(header, *rows, strict=True), strict=True))
    usual = {"rps", "held", "p50", "p99", *(curves.figure_name(bound.figure) for bound in search.level.bounds), "note"}
    shown = curves.NAMES if view.wide else view.names or [name for name in curves.NAMES if name in usual]
    return [_column(name, *texts[name], need=ALWAYS if name in view.names else NEEDS.get(name, ALWAYS)) for name in shown]


def _column(name: str, title: str, *texts: str, need: int) -> Cells:
    """``title``: with its unit, as in ``p99 (ms)``."""
    words, _, unit = title.partition(" (")
    folds_at = NOTE_MIN if name == "note" else 0
    return column(words, texts, need, unit=unit.removesuffix(")"), is_number=not folds_at, folds_at=folds_at)
