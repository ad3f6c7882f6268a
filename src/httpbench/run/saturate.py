"""The trials of a search for the service level: each is chosen by the results of those before it."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Search, Trial, TrialPlan, VerdictKind
from httpbench.stats.level import closed_loop_rps, observations, phases, rate_min_rps
from httpbench.stats.search import next_offer

FAILURES_MAX = 2
"""The search ends after this many failed trials in a row: the target does not start any more."""


def next_trial(search: Search, first: TrialPlan, trials: Sequence[Trial]) -> TrialPlan | None:
    """The trial after those made; ``None`` at the end. ``first``: a closed loop, whose throughput is where the search begins."""
    start_rps = closed_loop_rps(trials)
    if not start_rps or len(trials) >= search.trials_max or _has_given_up(trials):
        return None
    offer = next_offer(observations(search, trials), phases(search), start_rps, rate_min_rps(search))
    if offer is None:
        return None
    load = first.load.model_copy(update={"rate_rps": offer.rate_rps, "duration_s": offer.duration_s})
    before = sum(trial.plan.load == load for trial in trials)
    return first.model_copy(update={"number": len(trials), "round": before, "load": load})


def _has_given_up(trials: Sequence[Trial]) -> bool:
    last = trials[-FAILURES_MAX:]
    return len(last) == FAILURES_MAX and all(trial.verdict.kind is VerdictKind.FAILED for trial in last)
