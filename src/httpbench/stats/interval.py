"""Compute confidence intervals over rounds.

The unit of replication is the round. All intervals use Student's *t* on the logarithms of the results of rounds. Disturbances change a
server's throughput by a factor, so the logarithms vary equally for fast and slow servers. On a logarithmic scale, the ratio of two results
is a difference, and the bounds of an interval are always above zero.

The bootstrap doesn't assume a distribution, but it doesn't work for a handful of rounds. Its 95% intervals of a median miss the true value
in one of ten runs with three rounds, and in one of four runs with paired rounds. With three or more rounds, *t* keeps its error rate even
if the noise has heavy tails or is skewed (simulated in ``tests/unit/stats/test_interval_coverage.py``). One bad round widens the interval
of *t* much more than the interval of a median, so it hides differences instead of causing false ones.

Student's *t* alone isn't enough if one of two servers is disturbed again and again. Over many rounds, the disturbances would add up to a
significant difference. A comparison therefore considers two means: one without the highest seventh of its rounds, and one without the
lowest seventh (:func:`centers`). Its interval contains both means and extends beyond them by the half-width of Student's interval. Consider
two equal servers, one of which is disturbed in one of ten rounds. With any number of rounds, the interval misses the true value in at most
5% of runs. The drawback is that even with many rounds, the half-width of the interval never falls below about a quarter of the standard
deviation.
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

LOG_MAX = 700.0
"""Highest logarithm of a bound. The exponential of 710 doesn't fit a float."""

ROUNDS_MIN = 3
"""Minimum number of rounds for an interval. The results of two rounds may be very close together by chance. An interval over two results
would be valid only if they were normally distributed."""

LEFT_OUT = 7
"""Divisor for the number of rounds that a comparison leaves out: one of every seven. With fewer than seven rounds, none is left out.
Student's interval is then wide enough, because a disturbed round widens the interval at least as much as it shifts the mean."""

BETWEEN_CENTERS = 0.25
"""Half the expected distance between the two :func:`centers` of a comparison with normally distributed rounds, in standard deviations."""

ROUNDS_MAX = 100_000
"""Maximum number of rounds to suggest for a requested width. More rounds aren't practical."""

Floats = npt.NDArray[np.float64]


class ConfidenceInterval(Frozen):
    """A 95% confidence interval, in the unit of the result."""

    low: float
    """Lower bound."""
    high: float
    """Upper bound."""

    @property
    def half_width(self) -> float:
        """Half the relative width of the interval, computed on a logarithmic scale. For example, 0.02 is "± 2%"."""
        return math.sqrt(self.high / self.low) - 1 if self.low > 0 else math.inf


def interval(values: Sequence[float]) -> ConfidenceInterval | None:
    """Return the interval of the geometric mean of one value per round.

    Returns ``None`` for fewer than three values, or if a value isn't above zero.
    """
    if len(values) < ROUNDS_MIN or min(values) <= 0:
        return None
    # A run has thousands of such intervals. Each of them has only a few values, for which numpy would take ten times as long.
    logs = [math.log(value) for value in values]
    center = math.fsum(logs) / len(logs)
    variance = math.fsum((log - center) ** 2 for log in logs) / (len(logs) - 1)
    return around(center, center, quantile(len(logs)) * math.sqrt(variance / len(logs)))


def around(low: float, high: float, reach: float) -> ConfidenceInterval:
    """Return the interval from e^(low − reach) to e^(high + reach).

    ``low`` and ``high`` are the logarithms of the two means on which the interval is based. They are equal unless they come from
    :func:`centers`. ``reach`` is t times the standard error of the logarithms, plus the relative resolution of the recorded values.

    Source: Student, "The probable error of a mean", Biometrika 6, 1908. Applied to logarithms, the method gives the interval of a geometric
    mean.
    """
    return ConfidenceInterval(low=math.exp(min(low - reach, LOG_MAX)), high=math.exp(min(high + reach, LOG_MAX)))


def centers(logs: Floats) -> tuple[float, float]:
    """Return the mean without the highest seventh of the rounds, and the mean without the lowest seventh."""
    ascending, kept = sorted(logs.tolist()), len(logs) - len(logs) // LEFT_OUT
    low = math.fsum(ascending[:kept]) / kept
    return low, low if kept == len(logs) else math.fsum(ascending[-kept:]) / kept


def nearest_to_zero(low: float, high: float) -> float:
    """Return the value between ``low`` and ``high`` that is nearest to zero."""
    return max(low, 0.0) + min(high, 0.0)


def expected_reach(log_deviation: float, rounds: int, freedom: float, comparisons: int = 1) -> float:
    """Return by how much the interval of a comparison over this number of rounds is expected to extend from its mean to either side.

    ``log_deviation`` is the standard deviation of the logarithms over rounds, and ``freedom`` its degrees of freedom. ``comparisons`` is
    the number of intervals for Bonferroni's correction. The result is logarithmic, too.
    """
    reach = student(freedom, 1 - (1 - CONFIDENCE) / comparisons / 2) * log_deviation / math.sqrt(rounds)
    return reach + between_centers(log_deviation, rounds)


def between_centers(log_deviation: float, rounds: int) -> float:
    """Return by how much each of the two :func:`centers` is expected to differ from the mean of this number of rounds."""
    return BETWEEN_CENTERS * log_deviation if rounds >= LEFT_OUT else 0.0


def standard_error(logs: Floats) -> float:
    """Return the standard error of the mean, s / √n, where s is the sample standard deviation (with n − 1)."""
    return float(logs.std(ddof=1) / math.sqrt(len(logs)))


def quantile(rounds: int) -> float:
    """Return the half-width of a 95% interval over this number of rounds, in standard errors."""
    return student(rounds - 1)


@lru_cache(1000)
def student(freedom: float, share: float = (1 + CONFIDENCE) / 2) -> float:
    """Return the quantile of Student's t with ``freedom`` degrees of freedom: the value below which ``share`` of the distribution lies."""
    from scipy.special import stdtrit  # slow to import, and few commands need it

    return float(stdtrit(freedom, share))


def p_value(distance: float, log_error: float, freedom: float) -> float:
    """Return the two-sided p-value of Student's t with ``freedom`` degrees of freedom.

    This is the probability that the mean difference of identical targets is at least ``distance``.
    """
    if log_error == 0:
        return 0.0 if distance > 0 else 1.0
    from scipy.special import stdtr

    return float(2 * stdtr(freedom, -abs(distance) / log_error))


def rounds_for(log_deviation: float, half_width: float) -> int | None:
    """Return how many rounds an interval of ± ``half_width`` (relative) requires, or ``None`` if more than :data:`ROUNDS_MAX`.

    This is the smallest n with t(n − 1) · s / √n ≤ ln(1 + half-width). ``log_deviation`` is s, the standard deviation of the logarithms
    over rounds. The function assumes that s doesn't change with more rounds.

    Source: the two-stage rule of C. Stein, "A two-sample test for a linear hypothesis whose power is independent of the variance", Annals
    of Mathematical Statistics 16, 1945. Stein uses the quantile for the size of the first sample, whereas this function uses the quantile
    for the final number of rounds.
    """
    reach = math.log1p(half_width)

    def is_enough(rounds: int) -> bool:
        return quantile(rounds) * log_deviation / math.sqrt(rounds) <= reach

    counts = range(ROUNDS_MIN, ROUNDS_MAX + 1)
    first = bisect_left(counts, True, key=is_enough)
    return counts[first] if first < len(counts) else None


def jackknife(whole: float, without: Sequence[float], resolution: float) -> ConfidenceInterval | None:
    """Return the jackknife interval of a statistic; ``None`` for fewer than three rounds.

    ``whole`` is the value of the statistic over all rounds. ``without`` contains its value without the first round, without the second
    round, and so on. All values must be above zero. The standard error is √((n − 1)/n · Σ (θ₋ᵢ − mean θ₋)²), computed from logarithms.

    Source: J. W. Tukey, "Bias and confidence in not-quite large samples", Annals of Mathematical Statistics 29, 1958. The method is valid
    for percentiles because it leaves out whole groups of samples (J. Shao, C. F. J. Wu, "A general theory for jackknife variance
    estimation", Annals of Statistics 17, 1989).
    """
    rounds = len(without)
    if rounds < ROUNDS_MIN:
        return None
    logs = np.log(np.asarray(without, dtype=np.float64))
    error = math.sqrt((rounds - 1) / rounds * float(((logs - logs.mean()) ** 2).sum()))
    return around(math.log(whole), math.log(whole), quantile(rounds) * error + resolution)
