"""The trials of a search for the service level. The results so far determine the next trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from httpbench.model import Search, Trial, TrialPlan, VerdictKind
from httpbench.stats.level import closed_loop_rps, is_too_disturbed, observations, phases, rate_min_rps
from httpbench.stats.search import Offer, next_offer

FAILURES_MAX = 2
"""The search ends after this many failed trials in a row, because the target no longer starts."""


def upcoming(search: Search, first: TrialPlan, made: Sequence[Trial], warn: Callable[[str], None]) -> Iterator[TrialPlan]:
    """Yield further trials. ``made`` grows as they are measured. ``first`` is the closed loop that the search starts from."""
    while (offer := _next_offer(search, made)) is not None:
        if offer.wait_s:
            warn(f"trials contradict each other: waiting {offer.wait_s:.0f} s before the next")
            time.sleep(offer.wait_s)
        load = first.load.model_copy(update={"rate_rps": offer.rate_rps, "duration_s": offer.duration_s})
        before = sum(trial.plan.load == load for trial in made)
        yield first.model_copy(update={"number": len(made), "round": before, "load": load})


def _next_offer(search: Search, made: Sequence[Trial]) -> Offer | None:
    start_rps = closed_loop_rps(made)
    if not start_rps or len(made) >= search.trials_max or _has_given_up(made) or is_too_disturbed(made):
        return None
    return next_offer(observations(search, made), phases(search), start_rps, rate_min_rps(search))


def _has_given_up(trials: Sequence[Trial]) -> bool:
    last = trials[-FAILURES_MAX:]
    return len(last) == FAILURES_MAX and all(trial.verdict.kind is VerdictKind.FAILED for trial in last)
