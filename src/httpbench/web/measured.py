"""The runs that pages show, parsed. The documents of a run in progress are read once; after that, only its new trials are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group
from httpbench.model import Run, Trial
from httpbench.stats.summary import Summary, summarize
from httpbench.store import RunLine, Store
from httpbench.web.cache import Cache

TRIALS_MAX = 1_000
"""Maximum number of trials from recently viewed runs that are kept in memory."""

ALWAYS = 2
"""Number of runs that are kept even if they have more trials, so that a comparison of two large runs reads each of them once."""


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


class MeasuredRuns:
    """The most recently viewed runs. Threads may share an instance."""

    def __init__(self) -> None:
        self._cache: Cache[Measured] = Cache(TRIALS_MAX, lambda measured: max(len(measured.trials), 1), always=ALWAYS)

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
