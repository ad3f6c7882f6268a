"""Select the last of several attempts at a trial, because only a disturbed attempt is repeated."""

from __future__ import annotations

from collections.abc import Iterable

from httpbench.model import Load, Scaling, Trial

Place = tuple[tuple[str, Scaling, str, str, Load], int]
"""Cell and round."""


def last_attempts(trials: Iterable[Trial]) -> list[Trial]:
    """Return one trial for each cell and round, ordered by their first attempts."""
    found: dict[Place, Trial] = {}
    for trial in trials:
        place = (trial.plan.cell, trial.plan.round)
        if place not in found or trial.plan.attempt > found[place].plan.attempt:
            found[place] = trial
    return list(found.values())
