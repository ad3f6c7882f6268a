"""The trials of a search for the highest rate that meets a service level. The results so far determine the next trial."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence

from httpbench.model import Search, Trial, TrialPlan, VerdictKind
from httpbench.stats.level import is_too_disturbed, upcoming_offer
from httpbench.stats.search import Offer

FAILURES_MAX = 2
"""Number of failed trials in a row after which the search ends, because the target probably no longer starts."""


def upcoming(search: Search, first: TrialPlan, made: Sequence[Trial], began_s: float | None = None) -> Iterator[TrialPlan]:
    """Yield the trials after ``first``, the closed-loop trial that begins the search. The caller must append each trial to ``made``.

    The search ends before a trial that would exceed the search's time limit. ``began_s`` is its start on the monotonic clock, by default
    now.
    """
    began_s = time.monotonic() if began_s is None else began_s
    while (offer := _next_offer(search, made)) is not None:
        ends_s = time.monotonic() + first.load.warmup_s + offer.duration_s + (made[-1].overhead_s or 0.0)
        if search.time_max_s is not None and ends_s - began_s > search.time_max_s:
            return
        load = first.load.model_copy(update={"rate_rps": offer.rate_rps, "duration_s": offer.duration_s})
        before = sum(trial.plan.load == load for trial in made)
        yield first.model_copy(update={"number": len(made), "round": before, "load": load})


def _next_offer(search: Search, made: Sequence[Trial]) -> Offer | None:
    if len(made) >= search.trials_max or _has_given_up(made) or is_too_disturbed(made):
        return None
    return upcoming_offer(search, made)


def _has_given_up(trials: Sequence[Trial]) -> bool:
    last = trials[-FAILURES_MAX:]
    return len(last) == FAILURES_MAX and all(trial.verdict.kind is VerdictKind.FAILED for trial in last)
