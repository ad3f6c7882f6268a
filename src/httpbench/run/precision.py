"""Rounds until it is known: whether a run may end before its plan does."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Precision, Trial, TrialPlan
from httpbench.run.observer import Observer
from httpbench.stats.interval import ROUNDS_MAX
from httpbench.stats.precision import Width, widest


def is_enough(precision: Precision, baseline: str, following: TrialPlan, trials: Sequence[Trial], observer: Observer) -> bool:
    """Looked at between rounds, from the least number of them on. The first time it says what is to be expected."""
    if following.round < precision.rounds_min or trials[-1].plan.round == following.round:
        return False
    width = widest(trials, baseline)
    if width is None:
        return False
    if following.round == precision.rounds_min:
        _foretell(precision, width, observer)
    return width.half_width <= precision.half_width


def _foretell(precision: Precision, width: Width, observer: Observer) -> None:
    needed = width.rounds_for(precision.half_width) or ROUNDS_MAX
    if needed > precision.rounds_max:
        observer.warning(
            f"± {width.half_width:.1%} after {width.rounds} rounds: ± {precision.half_width:.1%} would take about {needed:,} rounds, "
            f"and at most {precision.rounds_max} are made"
        )
