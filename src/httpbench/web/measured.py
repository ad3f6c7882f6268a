"""The runs that pages show, parsed. The documents of a run in progress are read once; after that, only its new trials are read.

Of a large run, each page shows one table, so only the trials of that table are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from httpbench.analysis.groups import groups, tables
from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial, TrialPlan
from httpbench.stats.summary import Summary, summarize
from httpbench.store import RunLine, Store
from httpbench.web.cache import Cache

TRIALS_MAX = 1_000
"""Maximum number of trials from recently viewed runs that are kept in memory."""

ALWAYS = 2
"""Number of runs that are kept even if they have more trials, so that a comparison of two large runs reads each of them once."""


PAGE_TRIALS_MAX = 1_000
"""Maximum number of trials of a run whose page shows all tables. Reading and judging a thousand trials takes about a second."""

TABLE_TRIALS_MAX = 3_000
"""Maximum number of trials of a table that has a page."""

LISTED_TABLES = 200
"""Maximum number of tables in the list of a large run."""

OUTLINES = 4
"""Number of large runs whose plans are kept in memory."""


def is_large(state: RunLine) -> bool:
    """Return whether a run has so many trials that each of its tables has a page of its own."""
    return max(state.trials, state.trials_planned) > PAGE_TRIALS_MAX


class Summaries:
    """The summaries of a run's cells. Each is kept until its cell has another trial."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, bool], tuple[list[int], Summary]] = {}

    def summarize(self, trials: Sequence[Trial], *, invalid: bool = False) -> Summary:
        """Return what :func:`httpbench.stats.summary.summarize` returns."""
        numbers = [trial.plan.number for trial in trials]
        known = self._known.get((numbers[0], invalid))
        if known is None or known[0] != numbers:
            known = self._known[numbers[0], invalid] = (numbers, summarize(trials, invalid=invalid))
        return known[1]


@dataclass
class Measured:
    """A run with its trials, as of one state."""

    state: RunLine
    run: Run
    trials: list[Trial]
    summaries: Summaries = field(default_factory=Summaries)

    @cached_property
    def groups(self) -> list[Group]:
        """The tables of the run."""
        return groups(self.run, self.trials, self.summaries.summarize)


@dataclass
class Outline:
    """A large run, as of one state, without its trials."""

    state: RunLine
    run: Run
    tables: list[list[TrialPlan]]
    """The plans of each table."""


class MeasuredRuns:
    """The most recently viewed runs. Threads may share an instance."""

    def __init__(self) -> None:
        self._cache: Cache[Measured] = Cache(TRIALS_MAX, lambda measured: max(len(measured.trials), 1), always=ALWAYS)
        self._outlines: Cache[Outline] = Cache(OUTLINES, lambda outline: 1)

    def outline(self, store: Store, state: RunLine) -> Outline:
        """Return a large run without its trials."""

        def make() -> Outline:
            run, plans = store.outline(state.id)
            return Outline(state, run, tables(run, plans))

        return self._outlines.get(state, make)

    def listed(self, store: Store, outline: Outline) -> list[Group]:
        """Return the first tables of a large run with one trial each, which is enough for their titles."""
        firsts = [plans[0] for plans in outline.tables[:LISTED_TABLES]]
        return groups(*store.part(outline.run, firsts))

    def table(self, store: Store, state: RunLine, number: int) -> Measured | None:
        """Return a table of a large run as a run of its own; ``None`` if the run has no such table, or if the table is too large."""
        outline = self.outline(store, state)
        if not 0 < number <= len(outline.tables) or len(outline.tables[number - 1]) > TABLE_TRIALS_MAX:
            return None
        key = (state, number)
        return self._cache.get(key, lambda: Measured(state, *store.part(outline.run, outline.tables[number - 1])))

    def get(self, store: Store, state: RunLine) -> Measured:
        """Return a run in the given state."""
        key = (state.id, state.started_at)
        known = self._cache.find(key)
        if known is not None and known.state == state:
            return known
        if known is None:
            found = Measured(state, *store.run(state.id))
        else:
            found = Measured(state, *store.updated(known.run, known.trials), known.summaries)
        self._cache.put(key, found)
        return found
