"""The history of a target on a terminal: one line per run, newest first, followed by the changes and their commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.history import Point, Series
from httpbench.report.terminal.grid import Cells, column, fitted
from httpbench.report.words.changes import figure_title
from httpbench.report.words.columns import margin
from httpbench.report.words.history import LOWER_BOUND, UNITS, change_lines, environment_notes, heading, is_lower_bound, level_change_text
from httpbench.report.words.numbers import commit_text, four_digits, minute, plural, shortened

COMMIT_DIGITS = 8
NAME_WIDTH = 20


def render_history(found: Sequence[Series], *, width: int, runs: int, everything: bool = False) -> RenderableType:
    """Render the newest ``runs`` runs of each series.

    Unless ``everything`` is true, leave out series whose environment doesn't match that of the newest series.
    """
    shown = [series for series in found if everything or not series.differs]
    parts: list[RenderableType] = []
    for series in shown:
        parts += [Text(), Text(heading(series), style="bold")]
        parts += [Text(line, style="yellow") for line in environment_notes(series)]
        parts += fitted(_columns(series, runs), width)
        parts += [Text(line, style="bold") for line in change_lines(series)]
        parts += [Text(f"· {line}", style="dim", overflow="fold") for line in _notes(series, runs)]
    if hidden := len(found) - len(shown):
        parts += [Text(), Text(f"{hidden} more series from other environments: add --all-environments", style="dim")]
    return Stack(*parts[1:])


def _notes(series: Series, runs: int) -> Iterator[str]:
    if (older := len(series.points) - runs) > 0:
        yield f"{plural(older, 'older run')} not shown: add -n {len(series.points)}"
    if any(is_lower_bound(series, point) for point in series.points):
        yield LOWER_BOUND


def _columns(series: Series, runs: int) -> list[Cells]:
    points = list(reversed(series.points))[:runs]
    changed = {series.points[change.index].run: change for change in series.changes}
    unit = UNITS[series.figure][0]
    return [
        column("Date", (minute(point.started_at)[:10] for point in points)),
        column("Run", (shortened(point.name or point.run, NAME_WIDTH) for point in points)),
        column("Commit", map(_commit, points)),
        column(figure_title(series.figure), (_value(series, point) for point in points), unit=unit, is_number=True),
        column("±", (margin(point.estimate) for point in points), unit="%", is_number=True),
        column("Change", (level_change_text(changed[point.run]) if point.run in changed else "" for point in points)),
    ]


def _value(series: Series, point: Point) -> str:
    _, divisor, decimals = UNITS[series.figure]
    return f"{'≥' if is_lower_bound(series, point) else ''}{four_digits(point.estimate.median / divisor, decimals)}"


def _commit(point: Point) -> str:
    """Format a commit: ``0123abcd``, with ``+`` for uncommitted changes."""
    return commit_text(point.git_commit, COMMIT_DIGITS).replace("+changes", "+") if point.git_commit else ""
