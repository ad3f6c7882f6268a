"""The history of a target: titles, values, levels and changes with their commits."""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.analysis.history import LevelChange, Point, Series
from httpbench.report.words.changes import figure_title, mismatch_text, value_text
from httpbench.report.words.loads import load_text
from httpbench.report.words.numbers import commit_text, plural
from httpbench.stats.change_points import LEVEL_MIN
from httpbench.stats.summary import NOT_THE_TARGETS_ALONE

UNITS = {"rps": ("", 1.0, 0), "p99": ("ms", 1000.0, 3), "time": ("s", 1.0, 4)}
"""Unit of each metric, the divisor for that unit, and the maximum number of decimals."""

LOWER_BOUND = "≥: the load generator limited a round, so the target may be faster."


def series_load(series: Series) -> str:
    """Return the load of a series: ``plaintext single -c 64 -d 10s``. A client's load has no duration."""
    return load_text(series) if series.figure == "time" else f"{load_text(series)} -d {series.load.duration_s:g}s"


def heading(series: Series) -> str:
    """Return the heading of a series: ``c/epoll, plaintext single -c 64, native: Requests/s``."""
    return f"{series.target}, {series_load(series)}, {series.load_generator}: {figure_title(series.figure)}"


def column_title(series: Series) -> str:
    """Return the title of the metric with its unit."""
    unit = UNITS[series.figure][0]
    return f"{figure_title(series.figure)} ({unit})" if unit else figure_title(series.figure)


def environment_notes(series: Series) -> Iterator[str]:
    """List the differences between the environment of this series and that of the newest series."""
    yield from (f"environment: {mismatch_text(mismatch)}" for mismatch in series.differs)


def level_change_text(change: LevelChange) -> str:
    """Format a change: ``▼ -5.0% ± 0.7%``."""
    mark = "▼" if change.ratio < 1 else "▲"
    half = "" if change.interval is None else f" ± {(change.interval.high - change.interval.low) / 2 * 100:.1f}%"
    return f"{mark} {(change.ratio - 1) * 100:+.1f}%{half}"


def change_sentence(series: Series, change: LevelChange) -> str:
    """Describe a change: ``Requests/s ▼ -5.0% ± 0.7% since run 20260102T080000-c0de (100,000 → 95,000)``."""
    number = [found.index for found in series.changes].index(change.index)
    before, after = (value_text(series.figure, level.value) for level in series.levels[number : number + 2])
    return f"{figure_title(series.figure)} {level_change_text(change)} since run {series.points[change.index].run} ({before} → {after})"


def commits_text(change: LevelChange) -> str:
    """Return the commits of a change: ``commits 0123456789ab..ba9876543210``."""
    before, after = (commit_text(name) if name else None for name in (change.commit_before, change.commit_after))
    if before == after:
        return f"same commit {after}: not a change in the source" if after and "+" not in after else "commits unknown"
    return f"commits {before or 'unknown'}..{after or 'unknown'}"


def change_lines(series: Series) -> Iterator[str]:
    """List the changes in a series with their commits, newest first."""
    for change in reversed(series.changes):
        yield change_sentence(series, change)
        yield from (f"    {line}" for line in (commits_text(change), *change.commits))
    if not series.changes:
        runs = len(series.points)
        verb = "is" if runs == 1 else "are"
        few = f"{plural(runs, 'run')} {verb} not enough to find a change; at least {2 * LEVEL_MIN} are required."
        yield "No change." if runs >= 2 * LEVEL_MIN else few


def is_lower_bound(series: Series, point: Point) -> bool:
    """Return whether the target may be faster than measured in this run."""
    return series.figure == "rps" and point.verdict in NOT_THE_TARGETS_ALONE
