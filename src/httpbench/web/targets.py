"""The page of one target: its history over runs."""

from __future__ import annotations

from markupsafe import Markup

from httpbench.report.html.parts import Table
from httpbench.store import Store, browse
from httpbench.web import addresses
from httpbench.web.frame import Frame, NotFound, Page
from httpbench.web.lists import RUNS_PER_PAGE, when


def target_page(frame: Frame, store: Store, path: str, target: str) -> Page:
    found, _ = browse.runs(store, browse.Wanted(target=target), first=0, limit=RUNS_PER_PAGE)
    root = addresses.root(path)
    rows = [
        [Markup('<a href="{}">{}</a>').format(root + addresses.run(run.id), when(run.started_at)), run.name or "", run.git_commit or ""]
        for run in found
    ]
    return frame.page("target.html", path, {"title": target, "runs": Table.of("Runs", ["Run", "Name", "Commit"], rows)})


def target_of(store: Store, name: str) -> str:
    """The target whose page has this name. Raises :class:`NotFound`."""
    for target in browse.target_ids(store):
        if addresses.target_name(target) == name:
            return target
    raise NotFound("No run has this target.")
