"""The trials of a search for the highest rate that meets a service level. The results so far determine the next trial."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence

from httpbench.model import Search, Trial, TrialPlan, VerdictKind
from httpbench.stats.level import is_too_disturbed, phases, rate_min_rps, saturation, upcoming_offer
from httpbench.stats.overload import TRIALS as OVERLOAD_TRIALS
from httpbench.stats.overload import is_beyond, overload_load
from httpbench.stats.search import Offer, RateObservation, next_offer

FAILURES_MAX = 2
"""Number of failed trials in a row after which the search ends, because the target probably no longer starts."""

USUAL_RPS, USUAL_HELD_SHARE = 50_000.0, 0.8
"""A typical server's throughput in a closed loop, and the share of it that meets the service level, for :func:`usual_search_s`."""


def usual_search_s(search: Search, first: TrialPlan, trial_s: Callable[[TrialPlan], float]) -> float:
    """Estimate how long a search takes if its trials never disagree, in seconds. ``trial_s`` estimates the duration of one trial."""
    seen: list[RateObservation] = []
    total_s = trial_s(first)
    while len(seen) + 1 < search.trials_max:
        offer = next_offer(seen, phases(search), USUAL_RPS, rate_min_rps(search))
        if offer is None:
            break
        load = first.load.model_copy(update={"duration_s": offer.duration_s})
        total_s += trial_s(first.model_copy(update={"load": load, "round": 1}))
        seen.append(RateObservation(offer.rate_rps, offer.duration_s, offer.rate_rps <= USUAL_RPS * USUAL_HELD_SHARE))
    return total_s if search.time_max_s is None else min(total_s, search.time_max_s)


def upcoming(search: Search, first: TrialPlan, made: Sequence[Trial], began_s: float | None = None) -> Iterator[TrialPlan]:
    """Yield the trials after ``first``, the closed-loop trial that begins the search. The caller must append each trial to ``made``.

    The search ends before a trial that would exceed the search's time limit. ``began_s`` is its start on the monotonic clock, by default
    now.
    """
    began_s = time.monotonic() if began_s is None else began_s
    yield from _searching(search, first, made, began_s)
    yield from _overloading(search, first, made)


def _searching(search: Search, first: TrialPlan, made: Sequence[Trial], began_s: float) -> Iterator[TrialPlan]:
    while (offer := _next_offer(search, made)) is not None:
        ends_s = time.monotonic() + first.load.warmup_s + offer.duration_s + (made[-1].overhead_s or 0.0)
        if search.time_max_s is not None and ends_s - began_s > search.time_max_s:
            return
        load = first.load.model_copy(update={"rate_rps": offer.rate_rps, "duration_s": offer.duration_s})
        before = sum(trial.plan.load == load for trial in made)
        yield first.model_copy(update={"number": len(made), "round": before, "load": load})


def _overloading(search: Search, first: TrialPlan, made: Sequence[Trial]) -> Iterator[TrialPlan]:
    """Yield the trials beyond the highest rate, after the search has found one."""
    rate_rps = saturation(search, made).rate_rps
    load = overload_load(search, first.load, rate_rps) if rate_rps is not None else None
    if load is None:
        return
    before = sum(is_beyond(trial.plan.load) for trial in made)
    for number in range(before, OVERLOAD_TRIALS):
        yield first.model_copy(update={"number": len(made), "round": number, "load": load})


def _next_offer(search: Search, made: Sequence[Trial]) -> Offer | None:
    if len(made) >= search.trials_max or _has_given_up(made) or is_too_disturbed(made):
        return None
    return upcoming_offer(search, made)


def _has_given_up(trials: Sequence[Trial]) -> bool:
    last = trials[-FAILURES_MAX:]
    return len(last) == FAILURES_MAX and all(trial.verdict.kind is VerdictKind.FAILED for trial in last)
