"""The trials of a search: each is chosen by what those before it showed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from httpbench.model import Search, Trial, TrialPlan, VerdictKind
from httpbench.stats.level import closed_loop_rps, observations, phases, rate_min_rps
from httpbench.stats.search import next_offer

FAILURES_MAX = 2
"""Trials in a row that could not be measured, after which the search ends: the target does not start any more."""


def follow(search: Search, first: TrialPlan) -> Callable[[Sequence[Trial]], TrialPlan | None]:
    """Chooses the trial after those that were made. ``first``: in a closed loop; its throughput is where the search begins."""

    def following(trials: Sequence[Trial]) -> TrialPlan | None:
        start_rps = closed_loop_rps(trials)
        if not start_rps or len(trials) >= search.trials_max or _has_given_up(trials):
            return None
        offer = next_offer(observations(search, trials), phases(search), start_rps, rate_min_rps(search))
        if offer is None:
            return None
        load = first.load.model_copy(update={"rate_rps": offer.rate_rps, "duration_s": offer.duration_s})
        before = sum(trial.plan.load == load for trial in trials)
        return first.model_copy(update={"number": len(trials), "round": before, "load": load})

    return following


def _has_given_up(trials: Sequence[Trial]) -> bool:
    last = trials[-FAILURES_MAX:]
    return len(last) == FAILURES_MAX and all(trial.verdict.kind is VerdictKind.FAILED for trial in last)
