"""Whether further rounds would repeat the first: when all its trials are invalid, or failed, for one reason."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Trial
from httpbench.stats.once import family, once


def common_failure(trials: Sequence[Trial]) -> str | None:
    """The reason that all trials of the first round have, in one sentence; ``None`` if one counts, or if the reasons differ.

    ``trials``: all of the first round. Reasons that differ in their numbers alone are the same.
    """
    if not trials or any(trial.verdict.counts or not trial.verdict.reasons for trial in trials):
        return None
    first = [trial.verdict.reasons[0] for trial in trials]
    if len(set(map(family, first))) > 1:
        return None
    return once(first)[0].text
