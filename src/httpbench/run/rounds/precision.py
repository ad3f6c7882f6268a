"""Decide between rounds whether a run is precise enough to end early."""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Precision, Trial, TrialPlan
from httpbench.run.observer import Observer
from httpbench.stats.precision import Width, widest


def is_enough(precision: Precision, baseline: str, planned: TrialPlan, trials: Sequence[Trial], observer: Observer) -> bool:
    """Return whether the run may end before the trial ``planned``. A run may end only between rounds.

    At the first check, warn if the maximum number of rounds won't be enough.
    """
    if planned.round < precision.rounds_min or trials[-1].plan.round == planned.round:
        return False
    width = widest(trials, baseline)
    if width is None:
        return False
    if planned.round == precision.rounds_min:
        _warn_if_too_few(precision, width, observer)
    return width.half_width <= precision.half_width


def _warn_if_too_few(precision: Precision, width: Width, observer: Observer) -> None:
    required = width.rounds_for(precision.half_width)
    if required is None or required > precision.rounds_max:
        count = "more rounds than practical" if required is None else f"about {required:,} rounds"
        observer.warning(
            f"± {width.half_width:.1%} after {width.rounds} rounds: ± {precision.half_width:.1%} would take {count}; "
            f"the run ends after {precision.rounds_max}; hint: longer trials (-d) may require fewer rounds"
        )
