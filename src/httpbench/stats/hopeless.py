"""Detect when further rounds are pointless, because all trials of the first round failed or are invalid for the same reason."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Reason, ReasonKind, Trial, Verdict, VerdictKind


def common_failure(trials: Sequence[Trial]) -> tuple[Reason, ...]:
    """Return the first reason for each trial's verdict if these reasons are all the same; empty if they differ or if a trial counts.

    ``trials`` are all trials of the first round. Disturbed trials and trials that lost their load host are ignored. Reasons that differ
    only in their numbers count as the same.
    """
    undisturbed = [trial.verdict for trial in trials if trial.verdict.counts or not _says_nothing(trial.verdict)]
    if not undisturbed or any(verdict.counts or not verdict.reasons for verdict in undisturbed):
        return ()
    first = tuple(verdict.reasons[0] for verdict in undisturbed)
    return first if len({reason.family for reason in first}) == 1 else ()


def _says_nothing(verdict: Verdict) -> bool:
    return verdict.kind is VerdictKind.DISTURBED or any(reason.kind is ReasonKind.LOAD_HOST_LOST for reason in verdict.reasons)
