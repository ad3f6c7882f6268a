"""The list of runs, which users can search, and the list of targets."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from urllib.parse import urlencode

from markupsafe import Markup

from httpbench.report.html.parts import HtmlTable
from httpbench.report.words.numbers import commit_text, minute, plural, shortened
from httpbench.store import RunLine, Store, browse
from httpbench.store.browse import Wanted
from httpbench.text import printable
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page

RUNS_PER_PAGE = 50
TARGETS_NAMED = 3
"""Number of targets that the list shows for a run with many targets."""
COMMAND_CHARACTERS = 120
LONG_CHARACTERS = 24
"""Maximum length of a text that doesn't wrap."""
FIELD_CHARACTERS = 200
"""Maximum length of a field of the search form."""

FIELDS = (
    ("target", "Target", "text"),
    ("name", "Name", "text"),
    ("commit", "Commit", "text"),
    ("tag", "Tag", "text"),
    ("since", "From (UTC)", "date"),
    ("until", "To (UTC)", "date"),
)


def wanted_of(query: Mapping[str, str]) -> Wanted:
    """Return the fields of a search, ignoring other parameters."""
    names = [field.name for field in dataclasses.fields(Wanted)]
    return Wanted(**{name: query.get(name, "").strip()[:FIELD_CHARACTERS] for name in names})


def runs_page(frame: Frame, store: Store, path: str, number: int, wanted: Wanted, runs_max: int | None = None) -> Page:
    """Make a page of the list of runs. ``runs_max`` limits the list to the newest runs. Raises :class:`NotFound` beyond the last page."""
    first = (number - 1) * RUNS_PER_PAGE
    last = RUNS_PER_PAGE if runs_max is None else max(min(RUNS_PER_PAGE, runs_max - first), 0)
    found, count = browse.runs(store, wanted, first=first, limit=last)
    count = count if runs_max is None else min(count, runs_max)
    pages = max(math.ceil(count / RUNS_PER_PAGE), 1)
    if not 1 <= number <= pages:
        raise NotFound(f"The list of runs has {plural(pages, 'page')}.")
    asked = {name: value for name, value in dataclasses.asdict(wanted).items() if value}
    query = f"?{urlencode(asked)}" if asked else ""
    context = {
        "title": "Runs",
        "fields": [(*field, asked.get(field[0], "")) for field in FIELDS],
        "is_narrowed": bool(asked),
        "counted": _counted(count, first, len(found), is_narrowed=bool(asked)),
        "runs": _table(found, is_static=frame.is_static),
        "newer": addresses.page_of_runs(number - 1) + query if number > 1 else "",
        "older": addresses.page_of_runs(number + 1) + query if number < pages else "",
    }
    return frame.page("runs.html", path, context)


def targets_page(frame: Frame, store: Store, path: str) -> Page:
    """Make the list of targets."""
    rows = [
        [
            Markup('<a href="{}">{}</a>').format(addresses.target(target.id), printable(target.id)),
            f"{target.runs:,}",
            Markup('<a href="{}">{}</a>').format(addresses.run(target.last_run), minute(target.last_started_at)),
        ]
        for target in browse.targets(store)
    ]
    return frame.page("targets.html", path, {"title": "Targets", "targets": HtmlTable.of("Targets", ["Target", "Runs", "Last run"], rows)})


def _counted(count: int, first: int, shown: int, *, is_narrowed: bool) -> str:
    noun = f"{plural(count, 'run')}{' found' if is_narrowed else ''}"
    if not count and not is_narrowed:
        return "No runs yet. `httpbench bench` makes one."
    return noun if shown == count else f"{noun}, {first + 1:,} to {first + shown:,} shown"


def _table(found: list[RunLine], *, is_static: bool) -> HtmlTable:
    chosen = [] if is_static else ["Base", "Head"]
    header = ["Run", *chosen, "Status", "Trials", "Targets", "Name", "Commit", "Tags", "Command"]
    return HtmlTable.of("Runs, newest first", header, [_row(run, index, is_static=is_static) for index, run in enumerate(found)])


def _row(run: RunLine, index: int, *, is_static: bool) -> list[str]:
    sides = () if is_static else (_choice("base", run, index == 1), _choice("head", run, index == 0))
    return [
        Markup('<a href="{}">{}</a>').format(addresses.run(run.id), minute(run.started_at)),
        *sides,
        Markup('<span class="status-{0}">{0}</span>').format(str(run.status)),
        f"{run.trials_done:,} of {run.trials_planned:,}" if run.trials_done != run.trials_planned else f"{run.trials_done:,}",
        _targets(run),
        _text(run.name or ""),
        Markup('<code class="commit">{}</code>').format(printable(commit_text(run.git_commit))) if run.git_commit else "",
        _text(", ".join(run.tags)),
        _text(shortened(run.command, COMMAND_CHARACTERS)),
    ]


def _choice(side: str, run: RunLine, is_chosen: bool) -> Markup:
    checked = Markup(" checked") if is_chosen else ""
    return Markup('<label><input type="radio" name="{}" value="{}"{}><span class="unseen">{}: {}</span></label>').format(
        side, run.id, checked, side, minute(run.started_at)
    )


def _targets(run: RunLine) -> Markup:
    named = [
        Markup('<a href="{}">{}</a>').format(addresses.target(name), printable(name))
        for name in (run.targets if len(run.targets) == TARGETS_NAMED + 1 else run.targets[:TARGETS_NAMED])
    ]
    more = len(run.targets) - len(named)
    return _long(Markup(", ").join(named) + (f" and {more} more" if more else ""))


def _text(text: str) -> str:
    return _long(printable(text)) if len(text) > LONG_CHARACTERS else text


def _long(text: str) -> Markup:
    """Return markup that allows a long text to wrap."""
    return Markup('<span class="long">{}</span>').format(text)
