"""The page of one target: its metrics over many runs, with intervals and changes."""

from __future__ import annotations

from collections.abc import Set
from functools import cache
from typing import Any

from markupsafe import Markup

from httpbench.analysis.history import LevelChange, Point, Series, histories
from httpbench.host import commits_between
from httpbench.report.charts.history import of_series
from httpbench.report.charts.theme import svg_file
from httpbench.report.html.parts import HtmlTable, Picture, verdict
from httpbench.report.words import history
from httpbench.report.words.changes import figure_title
from httpbench.report.words.numbers import commit_text, figure_text, minute, plural
from httpbench.store import Store, browse
from httpbench.text import printable
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page

ROWS_MAX = 400
"""Maximum number of rows on a page, across all of its tables."""
ROWS_MIN = 5
SERIES_MAX = 40

CHART_HEIGHT = 330

_commits_between = cache(commits_between)


def target_page(frame: Frame, store: Store, path: str, target: str, linked: Set[str] | None) -> Page:
    """Make the page of a target. ``linked`` contains the ids of the runs that have a page, or is ``None`` if all runs have a page."""
    found = histories(store, target, _commits_between)
    shown = found[:SERIES_MAX]
    rows = max(ROWS_MAX // len(shown), ROWS_MIN) if shown else 0
    context = {
        "title": target,
        "sections": [_section(series, number, rows, path, linked) for number, series in enumerate(shown, 1)],
        "left_out": len(found) - len(shown),
    }
    return frame.page("target.html", path, context)


def target_chart(store: Store, target: str, number: int) -> Page:
    """Draw the chart of a series. Series are numbered from 1, as on the page. Raises :class:`NotFound` if there is no such series."""
    found = histories(store, target, _commits_between)
    if not 1 <= number <= len(found):
        raise NotFound(f"{target} has no chart {number}.")
    return Page(svg_file(of_series(found[number - 1])), "image/svg+xml")


def target_of(store: Store, name: str) -> str:
    """Return the target whose page has the given name. Raises :class:`NotFound` if there is no such target."""
    for target in browse.target_ids(store):
        if addresses.target_name(target) == name:
            return target
    raise NotFound("No run has this target.")


def _section(series: Series, number: int, rows: int, path: str, linked: Set[str] | None) -> dict[str, Any]:
    """Return the values that the template shows for one series. Each change consists of a sentence and a list of commits."""
    root, title = addresses.root(path), figure_title(series.figure)
    # Browsers cache charts. The address contains the number of points, so browsers load a new chart when there are more points.
    address = root + addresses.target_chart(series.target, number) + (f"?{len(series.points)}" if linked is None else "")
    older = len(series.points) - rows
    caption = f"Runs, newest first{f'; {older:,} older are not listed' if older > 0 else ''}"
    return {
        "anchor": f"history-{number}",
        "title": f"{title} · {history.series_load(series)} · {series.load_generator}",
        "notes": [*history.environment_notes(series), *([] if series.changes else [f"No change in {plural(len(series.points), 'run')}."])],
        "changes": [
            (history.change_sentence(series, change), (history.commits_text(change), *change.commits))
            for change in reversed(series.changes)
        ],
        "figures": [Picture(f"{title} over runs", address, CHART_HEIGHT)],
        "table": _table(series, rows, root, linked, caption),
    }


def _table(series: Series, rows: int, root: str, linked: Set[str] | None, caption: str) -> HtmlTable:
    divisor = history.UNITS[series.figure][1]
    changed = {series.points[change.index].run: change for change in series.changes}
    return HtmlTable.of(
        caption,
        ["Run", "Name", "Commit", history.column_title(series), "95% from", "to", "Rounds", "Verdict", "Change"],
        [_row(point, divisor, root, linked, changed.get(point.run)) for point in reversed(series.points[-rows:])],
    )


def _row(point: Point, divisor: float, root: str, linked: Set[str] | None, change: LevelChange | None) -> list[str]:
    interval = point.estimate.interval
    started = minute(point.started_at)
    has_page = linked is None or point.run in linked
    return [
        Markup('<a href="{}">{}</a>').format(root + addresses.run(point.run), started) if has_page else started,
        printable(point.name or ""),
        Markup("<code>{}</code>").format(printable(commit_text(point.git_commit))) if point.git_commit else "",
        figure_text(point.estimate.median / divisor),
        figure_text(interval.low / divisor) if interval else "",
        figure_text(interval.high / divisor) if interval else "",
        str(point.estimate.rounds),
        verdict(point.verdict),
        history.level_change_text(change) if change else "",
    ]
