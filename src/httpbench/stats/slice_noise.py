"""Compute how much the ratio of two targets must vary between rounds, judging by how much it varies between slices within rounds.

By chance, the few rounds of a comparison may agree much better than rounds usually do. Student's t allows for that, but no more than it has
to: one in twenty comparisons of equal servers claims a difference, nearly always because its rounds agreed by chance. The many slices
within the rounds reveal such an agreement. In the two-level model

    log ratio in slice j of round i = mean + start i + noise of slice j

the variance of a round's mean is that of the starts plus that of the slices divided by their number. Starts can only add to the second
part, so the second part is a lower bound (S. R. Searle, G. Casella, C. E. McCulloch, *Variance Components*, 1992, chapter 3).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from httpbench.model import Trial
from httpbench.stats.interval import ROUNDS_MIN, Floats, quantile, student

Slices = Mapping[int, Floats]
"""Logarithms of a target's throughput in each slice, by round number. Only rounds that count and were measured in slices."""

CYCLES_OF_A_PAIR = 2
"""Number of consecutive cycles that are averaged. The second one reverses the order of the first one, so a steady change of the machine's
speed cancels out."""


def slices_of(trials: Iterable[Trial]) -> dict[int, Floats]:
    """Return the slices of a target's rounds. A round is left out if no request completed in one of its slices."""
    found = {}
    for trial in trials:
        if trial.plan.slices is not None and trial.measurement is not None and trial.verdict.counts:
            rates = [part.completed / part.duration_s for part in trial.measurement.intervals if part.duration_s > 0]
            if rates and min(rates) > 0:
                found[trial.plan.round] = np.log(np.array(rates, dtype=np.float64))
    return found


def explained_variance(ours: Slices, theirs: Slices) -> float:
    """Return the part of the variance of a round's log ratio that the noise of slices explains; 0 if there are too few slices or rounds.

    This is the variance of the mean of two cycles within a round, averaged over rounds, and divided by the number of such means in a round.
    This estimate has more degrees of freedom than the variance of the rounds. It is reduced so that the quantile of Student's t for rounds
    gives the interval that the quantile for this estimate would give. A difference whose p-value is 5% is then significant by both
    estimates.
    """
    found, freedom = [], 0
    for number in ours.keys() & theirs.keys():
        count = len(ours[number]) // CYCLES_OF_A_PAIR
        if len(ours[number]) == len(theirs[number]) and count > 1:
            ratios = (ours[number] - theirs[number])[: count * CYCLES_OF_A_PAIR].reshape(count, CYCLES_OF_A_PAIR)
            found.append(float(ratios.mean(axis=1).var(ddof=1)) / count)
            freedom += count - 1
    if len(found) < ROUNDS_MIN:
        return 0.0
    return float(np.mean(found)) * min(student(freedom) / quantile(len(found)), 1.0) ** 2
