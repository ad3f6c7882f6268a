"""Whether further rounds would repeat the first: when all its trials are invalid, or failed, for one reason."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Trial, Verdict, VerdictKind
from httpbench.model.endings import LOST_HOST, LOST_WORKER
from httpbench.stats.once import family, once


def common_failure(trials: Sequence[Trial]) -> str | None:
    """The reason that all trials of the first round have, in one sentence; ``None`` if one counts, or if the reasons differ.

    ``trials``: all of the first round; those that were disturbed, or whose load host was lost, say nothing. Reasons that differ in their
    numbers alone are the same.
    """
    undisturbed = [trial.verdict for trial in trials if trial.verdict.counts or not _says_nothing(trial.verdict)]
    if not undisturbed or any(verdict.counts or not verdict.reasons for verdict in undisturbed):
        return None
    first = [verdict.reasons[0] for verdict in undisturbed]
    if len(set(map(family, first))) > 1:
        return None
    return once(first)[0].text


def _says_nothing(verdict: Verdict) -> bool:
    return verdict.kind is VerdictKind.DISTURBED or any(reason.startswith((LOST_HOST, LOST_WORKER)) for reason in verdict.reasons)
