"""The history of a target in words and as a table on a terminal: a line for each run, newest first, and its changes with their commits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.console import Group as Stack
from rich.console import RenderableType
from rich.text import Text

from httpbench.analysis.history import Change, Point, Series
from httpbench.report.terminal.grid import Cells, fitted
from httpbench.report.words.changes import TITLES, commit_text, value_text
from httpbench.report.words.columns import ALWAYS
from httpbench.report.words.numbers import four_digits
from httpbench.stats.change_points import LEVEL_MIN
from httpbench.stats.summary import NOT_THE_TARGETS_ALONE

UNITS = {"rps": ("", 1.0, 0), "p99": ("ms", 1000.0, 3), "time": ("s", 1.0, 4)}
"""Unit of a column, what a figure is divided by, and decimals at most."""

COMMIT_DIGITS = 8
NAME_WIDTH = 20


def render_history(found: Sequence[Series], *, width: int, runs: int, everything: bool = False) -> RenderableType:
    """For a console of ``width`` columns: the newest ``runs`` runs of each series; of other environments only with ``everything``."""
    shown = [series for series in found if everything or not series.differs]
    parts: list[RenderableType] = []
    for series in shown:
        parts += [Text(), Text(heading(series), style="bold")]
        parts += [Text(f"environment: {phrase}", style="yellow") for phrase in series.differs]
        parts += fitted(_columns(series, runs), width)
        parts += [Text(line, style="bold") for line in _lines(series)]
        parts += [Text(f"· {line}", style="dim", overflow="fold") for line in _notes(series, runs)]
    if hidden := len(found) - len(shown):
        parts += [Text(), Text(f"{hidden} more series from other environments: add --all-environments", style="dim")]
    return Stack(*parts[1:])


def heading(series: Series) -> str:
    """``c/epoll, plaintext single -c 64, native: Requests/s``."""
    return f"{series.target}, {series.title}, {series.load_generator}: {figure_title(series.figure)}"


def figure_title(figure: str) -> str:
    return TITLES.get(figure, figure)


def change_text(change: Change) -> str:
    """``▼ -5.0% ± 0.7%``. The triangle says whether the figure fell or rose."""
    mark = "▼" if change.ratio < 1 else "▲"
    half = "" if change.interval is None else f" ± {(change.interval.high - change.interval.low) / 2 * 100:.1f}%"
    return f"{mark} {(change.ratio - 1) * 100:+.1f}%{half}"


def change_sentence(series: Series, change: Change) -> str:
    """``Requests/s ▼ -5.0% ± 0.7% since run 20260102T080000-c0de (100,000 → 95,000)``."""
    number = [found.index for found in series.changes].index(change.index)
    before, after = (value_text(series.figure, level.value) for level in series.levels[number : number + 2])
    return f"{figure_title(series.figure)} {change_text(change)} since run {series.points[change.index].run} ({before} → {after})"


def commits_text(change: Change) -> str:
    """``commits 0123456789ab..ba9876543210``, or that the commit is the same or unknown."""
    before, after = (commit_text(name) if name else None for name in (change.commit_before, change.commit_after))
    if before == after:
        return f"commit {after}, as before: not a change of the source" if after and "+" not in after else "commits unknown"
    return f"commits {before or 'unknown'}..{after or 'unknown'}"


def date(point: Point) -> str:
    """``2026-01-02 08:00``, UTC."""
    return point.started_at[:16].replace("T", " ")


def _lines(series: Series) -> Iterator[str]:
    for change in reversed(series.changes):
        yield change_sentence(series, change)
        yield from (f"    {line}" for line in (commits_text(change), *change.commits))
    if not series.changes:
        yield "No change." if len(series.points) >= 2 * LEVEL_MIN else _too_few(len(series.points))


def _too_few(runs: int) -> str:
    counted = "1 run is" if runs == 1 else f"{runs} runs are"
    return f"{counted} too few to find a change; {2 * LEVEL_MIN} or more are required."


def _notes(series: Series, runs: int) -> Iterator[str]:
    if (older := len(series.points) - runs) > 0:
        yield f"{older} older run{'' if older == 1 else 's'} not shown: add -n {len(series.points)}"
    if any(_is_lower_bound(series, point) for point in series.points):
        yield "≥: a round was generator-bound, so the target can do more."


def _columns(series: Series, runs: int) -> list[Cells]:
    points = list(reversed(series.points))[:runs]
    changed = {series.points[change.index].run: change for change in series.changes}
    spreads = [point.estimate.spread for point in points]
    return [
        _words("Date", [date(point)[:10] for point in points]),
        _words("Run", [_name(point) for point in points]),
        _words("Commit", [_commit(point) for point in points]),
        _figures(figure_title(series.figure), UNITS[series.figure][0], [_value(series, point) for point in points]),
        _figures("±", "%", ["" if spread is None else f"{spread * 100:.1f}" for spread in spreads]),
        _words("Change", [change_text(changed[point.run]) if point.run in changed else "" for point in points]),
    ]


def _value(series: Series, point: Point) -> str:
    _, divisor, decimals = UNITS[series.figure]
    return f"{'≥' if _is_lower_bound(series, point) else ''}{four_digits(point.estimate.median / divisor, decimals)}"


def _is_lower_bound(series: Series, point: Point) -> bool:
    return series.figure == "rps" and point.verdict in NOT_THE_TARGETS_ALONE


def _commit(point: Point) -> str:
    """``0123abcd``, with ``+`` if the folder differed from its commit: there is no room for more."""
    return commit_text(point.git_commit, COMMIT_DIGITS).replace("+changes", "+") if point.git_commit else ""


def _name(point: Point) -> str:
    name = point.name or point.run
    return name if len(name) <= NAME_WIDTH else f"{name[: NAME_WIDTH - 1]}…"


def _words(title: str, texts: Sequence[str]) -> Cells:
    return Cells(title, "", [Text(text) for text in texts], ALWAYS, is_number=False)


def _figures(title: str, unit: str, texts: Sequence[str]) -> Cells:
    return Cells(title, unit, [Text(text) for text in texts], ALWAYS)
