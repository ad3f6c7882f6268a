"""Intervals over rounds: how far the truth may lie from what a few rounds showed.

The unit is the round. All intervals are Student's *t* on the logarithms of the rounds' figures: what disturbs a server multiplies its
rate, so logarithms vary alike at every rate, a ratio of two figures becomes a difference, and no bound is below zero.

Why not the bootstrap, which assumes no distribution? With a handful of rounds it has nothing to draw from: its 95% intervals of a
median miss the truth in one of ten runs of three rounds, and in one of four when rounds are paired. *t* keeps its promise from three
rounds on, also where the noise has heavy tails or leans to one side (simulated in ``tests/unit/stats/test_interval_coverage.py``).
One round that went badly wrong widens the interval much more than it would widen that of a median: too few claims rather than too many.

That alone is no protection where one server of two is disturbed again and again: over many rounds its disturbances become a difference that
is certain. So a comparison holds whichever seventh of its rounds is left out, the highest or the lowest: its interval reaches from the
lowest to the highest mean that remains (:func:`centres`), and Student's *t* beyond. Of equals of which one is disturbed in one round of ten
it excludes the truth in at most 5% of runs, whatever the number of rounds. The price is a part of the interval that more rounds do not
narrow: a quarter of the standard deviation.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache

import numpy as np
import numpy.typing as npt

from httpbench.model import Frozen

CONFIDENCE = 0.95

ROUNDS_MIN = 3
"""Fewer have no interval. Two rounds may lie as close together by chance as they like, and nothing but a normal distribution would
vouch for them."""

LEFT_OUT = 7
"""One round of so many may be disturbed on one side without becoming a claim. In fewer rounds Student's interval is wide enough by itself:
one that is disturbed makes it as wide as its mean is off."""

ROUNDS_MAX = 100_000
"""Where the search for the rounds that a width requires gives up: more are not practical."""

Floats = npt.NDArray[np.float64]


class ConfidenceInterval(Frozen):
    """Where the truth lies with a confidence of 95%, in the unit of the figure."""

    low: float
    """Lower bound."""
    high: float
    """Upper bound."""

    @property
    def half_width(self) -> float:
        """Half the width relative to the middle, on the scale of logarithms: 0.02 is «± 2%»."""
        return math.sqrt(self.high / self.low) - 1 if self.low > 0 else math.inf


def interval(values: Sequence[float]) -> ConfidenceInterval | None:
    """Of the geometric mean of figures, one for each round; ``None`` for fewer than three, or where one is not above zero."""
    if len(values) < ROUNDS_MIN or min(values) <= 0:
        return None
    # A run has thousands of these, each of a few rounds: numpy takes ten times as long for so few.
    logs = [math.log(value) for value in values]
    centre = math.fsum(logs) / len(logs)
    variance = math.fsum((log - centre) ** 2 for log in logs) / (len(logs) - 1)
    return around(centre, centre, math.sqrt(variance / len(logs)), len(logs))


def around(low: float, high: float, log_error: float, rounds: int, resolution: float = 0.0) -> ConfidenceInterval:
    """From e^(low − reach) to e^(high + reach): reach = t · standard error + resolution, with ``rounds`` − 1 degrees of freedom.

    ``low`` and ``high`` are centres, alike unless they come from :func:`centres`. They and ``log_error`` are on the scale of logarithms;
    ``resolution`` is the relative step in which the figure was recorded.
    Source: Student, «The probable error of a mean», Biometrika 6, 1908; on logarithms, the interval of a geometric mean.
    """
    reach = quantile(rounds) * log_error + resolution
    return ConfidenceInterval(low=math.exp(low - reach), high=math.exp(high + reach))


def centres(logs: Floats) -> tuple[float, float]:
    """The lowest and the highest mean of logarithms that remain when the highest or the lowest seventh of the rounds is left out."""
    ascending, left_out = np.sort(logs), len(logs) // LEFT_OUT
    return float(ascending[: len(logs) - left_out].mean()), float(ascending[left_out:].mean())


def nearest_to_zero(low: float, high: float) -> float:
    """0 where it lies between the two."""
    return max(low, 0.0) + min(high, 0.0)


def standard_error(logs: Floats) -> float:
    """Of the mean: s / √n, with n − 1 in s."""
    return float(logs.std(ddof=1) / math.sqrt(len(logs)))


@cache
def quantile(rounds: int) -> float:
    """How many standard errors a 95% interval reaches to either side."""
    from scipy.special import stdtrit  # takes as long to load as all else together, and few commands use it

    return float(stdtrit(rounds - 1, (1 + CONFIDENCE) / 2))


def p_value(distance: float, log_error: float, freedom: float) -> float:
    """Two-sided, of Student's t with ``freedom`` degrees of freedom: how often rounds of identical targets lie at least this far apart."""
    if log_error == 0:
        return 0.0 if distance > 0 else 1.0
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(distance) / log_error))


def rounds_for(log_deviation: float, half_width: float) -> int | None:
    """Rounds for an interval of ± ``half_width`` (relative), if rounds go on to deviate as they did; ``None``: beyond any patience.

    The least n with t(n − 1) · s / √n ≤ ln(1 + half-width). ``log_deviation``: s, the standard deviation of logarithms over rounds.
    Source: the two-stage rule of C. Stein, «A two-sample test for a linear hypothesis whose power is independent of the variance»,
    Annals of Mathematical Statistics 16, 1945, with the quantile of the final instead of the first sample.
    """
    reach = math.log1p(half_width)

    def is_enough(rounds: int) -> bool:
        return quantile(rounds) * log_deviation / math.sqrt(rounds) <= reach

    if not is_enough(ROUNDS_MAX):
        return None
    low, high = ROUNDS_MIN - 1, ROUNDS_MAX
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def jackknife(whole: float, without: Sequence[float], resolution: float) -> ConfidenceInterval | None:
    """Of a figure of all rounds' samples together, from the same figure without each round in turn; all above zero.

    The standard error is √((n − 1)/n · Σ (θ₋ᵢ − mean θ₋)²), on logarithms. ``None`` below three rounds.
    Source: J. W. Tukey, «Bias and confidence in not-quite large samples», Annals of Mathematical Statistics 29, 1958; leaving out whole
    groups is what keeps it sound for percentiles (J. Shao, C. F. J. Wu, «A general theory for jackknife variance estimation», Annals of
    Statistics 17, 1989).
    """
    rounds = len(without)
    if rounds < ROUNDS_MIN:
        return None
    logs = np.log(np.asarray(without, dtype=np.float64))
    error = math.sqrt((rounds - 1) / rounds * float(((logs - logs.mean()) ** 2).sum()))
    return around(math.log(whole), math.log(whole), error, rounds, resolution)
