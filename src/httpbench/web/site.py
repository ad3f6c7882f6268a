"""Make each page from its path and the store. The server and the static copy share this module, so it doesn't depend on HTTP.

Charts and reports are slow to make, so they are cached until their run changes.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from itertools import accumulate
from pathlib import Path

from httpbench.errors import HttpbenchError
from httpbench.model import RunStatus
from httpbench.model.frozen import RUN_ID_PATTERN
from httpbench.store import Copy, RunLine, Store, browse
from httpbench.web import addresses, comparisons, lists, runs, targets
from httpbench.web.cache import Cache
from httpbench.web.frame import Frame, NotFound, Page
from httpbench.web.measured import Measured, MeasuredRuns, is_large

PAGES_BYTES_MAX = 64_000_000

EXPLORED_RUNS, EXPLORED_TRIALS = 20, 3_000
"""Maximum number of runs, and of their trials, that the explorer shows. Reading a thousand trials takes about a second."""

ID = f"({RUN_ID_PATTERN})"
NAME = r"([a-z0-9.-]{1,80})"

Query = Mapping[str, str]


class Site:
    """The pages of one store. Threads may share an instance."""

    def __init__(self, db: Path, *, is_static: bool = False, runs_max: int | None = None):
        """Open a site. With ``is_static``, its pages are saved as files. ``runs_max`` limits the list to the newest runs."""
        self.db = db
        self.frame = Frame(is_static)
        self._runs_max = runs_max
        self._copy = Copy()
        self._pages: Cache[Page] = Cache(PAGES_BYTES_MAX, lambda page: len(page.content))
        self._measured = MeasuredRuns()
        self._drawing = threading.Lock()
        """Lock for drawing, because altair has global state."""
        self._routes: list[tuple[str, Callable[..., Page]]] = [
            (r"(?:(?:index|runs-([1-9][0-9]{0,8}))\.html)?", self._runs),
            (r"targets\.html", self._targets),
            (r"explorer\.html", self._explorer),
            (rf"targets/{NAME}\.html", self._target),
            (rf"targets/{NAME}/([1-9][0-9]{{0,5}})\.svg", self._target_chart),
            (rf"runs/{ID}\.html", self._run),
            (rf"runs/{ID}/report\.html", self._report),
            (rf"runs/{ID}/table-([1-9][0-9]{{0,5}})\.html", self._run_table),
            (rf"runs/{ID}/table-([1-9][0-9]{{0,5}})/({runs.TABLE}1)\.svg", self._run_table_chart),
            (rf"runs/{ID}/({runs.SEARCH}|{runs.TABLE}[1-9][0-9]{{0,5}})\.svg", self._run_chart),
            (rf"compare/{ID}/{ID}\.html", self._comparison),
            (rf"compare/{ID}/{ID}/([a-z0-9.]{{1,20}})\.svg", self._comparison_chart),
        ]

    def page(self, path: str, query: Query | None = None) -> Page:
        """Return the page at a path. Raises :class:`NotFound` if there is none, and :class:`StoreError` if the store cannot be read."""
        for pattern, make in self._routes:
            if match := re.fullmatch(pattern, path):
                return make(path, query or {}, *match.groups())
        raise NotFound("The dashboard has no such page.")

    def state(self, run_id: str) -> RunLine | None:
        """Return the state of a run, or ``None`` if it does not exist."""
        with self._store() as store:
            return browse.state(store, run_id)

    def results(self, run_id: str) -> str:
        """Make the part of a page that changes while the run continues. Raises :class:`NotFound` if there is no such run."""
        measured, path = self._found(run_id), addresses.run(run_id)
        return self._pages.get(("results", measured.state), lambda: Page(runs.results_part(self.frame, path, measured))).content

    def close(self) -> None:
        """Delete the temporary copy of a store in an earlier format."""
        self._copy.close()

    def warm_up(self) -> None:
        """Make the page and the first chart of the newest run, so that slow libraries are loaded before the first request.

        Errors are ignored.
        """
        with suppress(HttpbenchError, NotFound), self._store() as store:
            for newest in browse.runs(store, browse.Wanted(), first=0, limit=1)[0]:
                self.page(addresses.run(newest.id))
                self.page(addresses.run_chart(newest.id, f"{runs.TABLE}1"))

    def _store(self) -> Store:
        return Store(self.db, reading=True, copy=self._copy)

    def _linked(self, store: Store) -> set[str] | None:
        """Return the ids of the runs that have a page, or ``None`` if all runs have a page."""
        return None if self._runs_max is None else browse.newest(store, self._runs_max)

    def _found(self, run_id: str) -> Measured:
        """Read a run. Raises :class:`NotFound` if there is no such run, or if it is large."""
        with self._store() as store:
            state = _state(store, run_id)
            if is_large(state):
                raise NotFound(f"Run {run_id} has too many trials for this page: `httpbench report {run_id}` prints its report.")
            return self._measured.get(store, state)

    def _found_table(self, run_id: str, number: int) -> Measured:
        """Read a table of a large run. Raises :class:`NotFound` if there is no such table, or if it is too large for a page."""
        with self._store() as store:
            state = _state(store, run_id)
            measured = self._measured.table(store, state, number) if is_large(state) else None
        if measured is None:
            raise NotFound(f"Run {run_id} has no table {number}, or it has too many trials: `httpbench report {run_id}` prints all tables.")
        return measured

    def _drawn(self, key: tuple[object, ...], make: Callable[[], Page]) -> Page:
        """Return a cached page, drawing it if it is missing."""

        def draw() -> Page:
            with self._drawing:
                return make()

        return self._pages.get(key, draw)

    def _runs(self, path: str, query: Query, number: str | None) -> Page:
        with self._store() as store:
            return lists.runs_page(self.frame, store, path or addresses.RUNS, int(number or 1), lists.wanted_of(query), self._runs_max)

    def _targets(self, path: str, query: Query) -> Page:
        with self._store() as store:
            return lists.targets_page(self.frame, store, path)

    def _explorer(self, path: str, query: Query) -> Page:
        """Make the page of the explorer from the newest runs. Runs in progress aren't part of it."""
        with self._store() as store:
            newest = browse.runs(store, browse.Wanted(), first=0, limit=min(EXPLORED_RUNS, self._runs_max or EXPLORED_RUNS))[0]
            ended = [state for state in newest if state.status is not RunStatus.RUNNING]
            states = [state for state in ended if 0 < state.trials_done <= EXPLORED_TRIALS]
            totals = accumulate(state.trials_done for state in states)
            states = [state for state, total in zip(states, totals, strict=True) if total <= EXPLORED_TRIALS]

            def make() -> Page:
                found = [self._measured.get(store, state) for state in states]
                return self.frame.explorer(path, [runs.explored_run(measured) for measured in found])

            return self._pages.get((path, *states), make)

    def _target(self, path: str, query: Query, name: str) -> Page:
        with self._store() as store:
            return targets.target_page(self.frame, store, path, targets.target_of(store, name), self._linked(store))

    def _target_chart(self, path: str, query: Query, name: str, number: str) -> Page:
        with self._store() as store:
            target = targets.target_of(store, name)
            return self._drawn((path, browse.extent(store, target)), lambda: targets.target_chart(store, target, int(number)))

    def _run(self, path: str, query: Query, run_id: str) -> Page:
        with self._store() as store:
            state = _state(store, run_id)
            if is_large(state):
                outline = self._measured.outline(store, state)
                make = partial(runs.large_run_page, self.frame, path, outline)
                return self._pages.get((path, state), lambda: make(self._measured.listed(store, outline)))
            measured = self._measured.get(store, state)
            before = browse.before(store, run_id)
            linked = self._linked(store)
            if before is not None and (is_large(_state(store, before)) or (linked is not None and before not in linked)):
                before = None
        return runs.run_page(self.frame, path, measured, before)

    def _run_table(self, path: str, query: Query, run_id: str, number: str) -> Page:
        measured = self._found_table(run_id, int(number))
        return self._pages.get((path, measured.state), lambda: runs.run_page(self.frame, path, measured, None, int(number)))

    def _run_table_chart(self, path: str, query: Query, run_id: str, number: str, name: str) -> Page:
        measured = self._found_table(run_id, int(number))
        return self._drawn((path, measured.state), lambda: runs.chart(measured, name))

    def _report(self, path: str, query: Query, run_id: str) -> Page:
        measured = self._found(run_id)
        return self._drawn((path, measured.state), lambda: runs.report_page(measured.run, measured.trials))

    def _run_chart(self, path: str, query: Query, run_id: str, name: str) -> Page:
        measured = self._found(run_id)
        state = measured.state
        version = runs.chart_version(measured, name) if state.status is RunStatus.RUNNING else state
        return self._drawn((path, state.started_at, version), lambda: runs.chart(measured, name))

    def _comparison(self, path: str, query: Query, base: str, head: str) -> Page:
        ours, theirs = self._found(base), self._found(head)
        make = partial(comparisons.comparison_page, self.frame, path, (ours.run, ours.trials), (theirs.run, theirs.trials))
        return self._pages.get((path, ours.state, theirs.state), make)

    def _comparison_chart(self, path: str, query: Query, base: str, head: str, figure: str) -> Page:
        ours, theirs = self._found(base), self._found(head)
        make = partial(comparisons.comparison_chart, (ours.run, ours.trials), (theirs.run, theirs.trials), figure)
        return self._drawn((path, ours.state, theirs.state), make)


def _state(store: Store, run_id: str) -> RunLine:
    """Return the state of a run. Raises :class:`NotFound` if there is no such run."""
    state = browse.state(store, run_id)
    if state is None:
        raise NotFound(f'There is no run "{run_id}".')
    return state
