"""Compute confidence intervals over rounds.

The unit of replication is the round. All intervals use Student's *t* on the logarithms of the rounds' results. Disturbances change a
server's rate by a factor, so the logarithms vary equally at every rate. On the logarithmic scale, a ratio of two results is a difference,
and no bound of an interval is below zero.

The bootstrap, which assumes no distribution, doesn't work for a handful of rounds. Its 95% intervals of a median miss the true value in one
of ten runs with three rounds, and in one of four runs with paired rounds. With three or more rounds, *t* keeps its error rate even if the
noise has heavy tails or is skewed (simulated in ``tests/unit/stats/test_interval_coverage.py``). One bad round widens the interval of *t*
much more than the interval of a median, so a bad round causes fewer claims, not more.

Student's *t* alone doesn't help if one of two servers is disturbed repeatedly. Over many rounds, its disturbances would become a
significant difference. A comparison must therefore hold without the highest seventh of its rounds, and also without the lowest seventh. Its
interval extends from the lowest to the highest remaining mean (:func:`centers`), plus Student's *t* on both sides. For two equal servers,
one of which is disturbed in one of ten rounds, the interval misses the true value in at most 5% of runs, whatever the number of rounds. The
drawback is that the half-width of the interval never falls below about a quarter of the standard deviation, however many rounds there are.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from httpbench.model import Frozen

CONFIDENCE = 0.95

ROUNDS_MIN = 3
"""Minimum number of rounds for an interval. Two rounds may be arbitrarily close together by chance, and only a normal distribution would
justify an interval."""

LEFT_OUT = 7
"""A comparison must hold even if one of every seven rounds (rounded down) is left out. With fewer than seven rounds, Student's interval is
wide enough by itself: a disturbed round that shifts the mean widens the interval by as much."""

ROUNDS_MAX = 100_000
"""Maximum number of rounds to consider for a required width. More rounds aren't practical."""

Floats = npt.NDArray[np.float64]


class ConfidenceInterval(Frozen):
    """A 95% confidence interval, in the unit of the result."""

    low: float
    """Lower bound."""
    high: float
    """Upper bound."""

    @property
    def half_width(self) -> float:
        """Half the width relative to the middle, on a logarithmic scale: 0.02 is "± 2%"."""
        return math.sqrt(self.high / self.low) - 1 if self.low > 0 else math.inf


def interval(values: Sequence[float]) -> ConfidenceInterval | None:
    """Return the interval of the geometric mean of one value per round.

    Returns ``None`` for fewer than three values, or if a value isn't above zero.
    """
    if len(values) < ROUNDS_MIN or min(values) <= 0:
        return None
    # A run has thousands of such intervals over a few rounds each. For so few values, numpy takes ten times as long.
    logs = [math.log(value) for value in values]
    center = math.fsum(logs) / len(logs)
    variance = math.fsum((log - center) ** 2 for log in logs) / (len(logs) - 1)
    return around(center, center, quantile(len(logs)) * math.sqrt(variance / len(logs)))


def around(low: float, high: float, reach: float) -> ConfidenceInterval:
    """Return the interval from e^(low − reach) to e^(high + reach).

    ``low`` and ``high`` are logarithms of the two centers of the interval, which are equal unless they come from :func:`centers`.
    ``reach`` is t · standard error of the logarithms, plus the relative step of the recorded values.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908. Applied to logarithms, the method gives the interval of a geometric
    mean.
    """
    return ConfidenceInterval(low=math.exp(low - reach), high=math.exp(high + reach))


def centers(logs: Floats) -> tuple[float, float]:
    """Return the mean without the highest seventh of the rounds, and the mean without the lowest seventh."""
    ascending, left_out = np.sort(logs), len(logs) // LEFT_OUT
    return float(ascending[: len(logs) - left_out].mean()), float(ascending[left_out:].mean())


def nearest_to_zero(low: float, high: float) -> float:
    """Return the value between ``low`` and ``high`` that is nearest to zero."""
    return max(low, 0.0) + min(high, 0.0)


def standard_error(logs: Floats) -> float:
    """Return the standard error of the mean, s / √n, where s is computed with n − 1."""
    return float(logs.std(ddof=1) / math.sqrt(len(logs)))


def quantile(rounds: int) -> float:
    """Return the number of standard errors by which a 95% interval over this number of rounds extends to either side."""
    return student(rounds - 1)


@lru_cache(1000)
def student(freedom: float, share: float = (1 + CONFIDENCE) / 2) -> float:
    """Return the quantile of Student's t with ``freedom`` degrees of freedom: the value below which ``share`` of the distribution lies."""
    from scipy.special import stdtrit  # slow to import, and few commands need it

    return float(stdtrit(freedom, share))


def p_value(distance: float, log_error: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t with ``freedom`` degrees of freedom.

    It is the probability that rounds of identical targets differ by at least ``distance``.
    """
    if log_error == 0:
        return 0.0 if distance > 0 else 1.0
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(distance) / log_error))


def rounds_for(log_deviation: float, half_width: float) -> int | None:
    """Return the number of rounds for an interval of ± ``half_width`` (relative), or ``None`` if it exceeds :data:`ROUNDS_MAX`.

    This is the smallest n with t(n − 1) · s / √n ≤ ln(1 + half-width). ``log_deviation`` is s, the standard deviation of the logarithms
    over rounds, which is assumed to stay the same.

    Source: the two-stage rule of C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals
    of Mathematical Statistics 16, 1945. Stein uses the quantile for the size of the first sample; this function uses the final size.
    """
    reach = math.log1p(half_width)

    def is_enough(rounds: int) -> bool:
        return quantile(rounds) * log_deviation / math.sqrt(rounds) <= reach

    counts = range(ROUNDS_MIN, ROUNDS_MAX + 1)
    first = bisect_left(counts, True, key=is_enough)
    return counts[first] if first < len(counts) else None


def jackknife(whole: float, without: Sequence[float], resolution: float) -> ConfidenceInterval | None:
    """Return the jackknife interval of a statistic, given its value over all rounds and its values with each round in turn left out.

    All values are above zero. The standard error is √((n − 1)/n · Σ (θ₋ᵢ − mean θ₋)²), computed on logarithms. Returns ``None`` for fewer
    than three rounds.

    Source: J. W. Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics 29, 1958. Leaving out whole
    groups makes the method valid for percentiles (J. Shao, C. F. J. Wu, "A general theory for jackknife variance estimation", Annals of
    Statistics 17, 1989).
    """
    rounds = len(without)
    if rounds < ROUNDS_MIN:
        return None
    logs = np.log(np.asarray(without, dtype=np.float64))
    error = math.sqrt((rounds - 1) / rounds * float(((logs - logs.mean()) ** 2).sum()))
    return around(math.log(whole), math.log(whole), quantile(rounds) * error + resolution)
