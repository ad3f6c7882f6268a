"""Compare one result between two runs.

The rounds of two runs aren't interleaved, so they can't be paired. The result is the ratio of the geometric means. Its interval comes from
Welch's t-test on the logarithms, which doesn't require equal variances (B. L. Welch, "The generalization of 'Student's' problem when
several different population variances are involved", Biometrika 34, 1947; the degrees of freedom follow F. E. Satterthwaite, Biometrics
Bulletin 2, 1946).

As in a comparison within a run, the interval also covers the ratios of means without the highest or the lowest seventh of each run's rounds
(see :mod:`httpbench.stats.interval`).

Comparing runs has a serious drawback, which statistics can't remove. Anything else that changed between the two runs, such as other
programs or the room temperature, also changes the ratio, and the interval doesn't account for this. Only a comparison within one run avoids
the problem.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.model import Frozen
from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN, ConfidenceInterval, around, centers, standard_error, student


class Change(Frozen):
    """The change of one result between two runs: the ratio of the second (head) to the first (base)."""

    base: float
    """Geometric mean over the first run's rounds that count."""
    head: float
    ratio: float
    interval: ConfidenceInterval | None
    """Confidence interval of the ratio. With 95% confidence, all intervals of this result contain their true ratios. ``None``: fewer than
    three rounds in either run."""
    rounds_base: int
    rounds_head: int
    log_deviation: float | None = None
    """Standard deviation of the logarithm of a ratio of one round of each run, if both runs had as many rounds as the shorter one. Null:
    fewer than three rounds in either run."""
    freedom: float | None = None
    """Degrees of freedom of ``log_deviation``. Null: fewer than three rounds in either run."""
    comparisons: int = 1
    """Number of intervals of this result that are correct together with 95% confidence."""

    @property
    def rounds(self) -> int:
        """Number of rounds of the run with fewer rounds."""
        return min(self.rounds_base, self.rounds_head)

    @property
    def differs(self) -> bool:
        """Whether the difference is significant."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


def change(base: Sequence[float], head: Sequence[float], comparisons: int = 1, resolution: float = 0.0) -> Change | None:
    """Return the change between two runs; ``None`` if either run has no value above zero.

    Args:
        base: Values of the rounds of the first run.
        head: Values of the rounds of the second run.
        comparisons: Number of intervals of this result. Bonferroni's correction widens each interval, so that 95% is the confidence that
            all of them are correct.
        resolution: Relative resolution of the recorded values. The interval is widened by this amount on both sides.
    """
    logs = [np.log(np.array([value for value in values if value > 0], dtype=np.float64)) for values in (base, head)]
    if not all(len(each) for each in logs):
        return None
    means = [float(each.mean()) for each in logs]
    interval = log_deviation = freedom = None
    rounds = min(len(each) for each in logs)
    if rounds >= ROUNDS_MIN:
        errors = [standard_error(each) for each in logs]
        error, freedom = math.hypot(*errors), freedom_of_difference(errors, [len(each) for each in logs])
        log_deviation = error * math.sqrt(rounds)
        reach = student(freedom, 1 - (1 - CONFIDENCE) / comparisons / 2) * error + resolution
        (base_low, base_high), (head_low, head_high) = (centers(each) for each in logs)
        low = min(head_low - means[0], means[1] - base_high)
        high = max(head_high - means[0], means[1] - base_low)
        interval = around(low, high, reach)
    return Change(
        base=math.exp(means[0]),
        head=math.exp(means[1]),
        ratio=math.exp(means[1] - means[0]),
        interval=interval,
        rounds_base=len(logs[0]),
        rounds_head=len(logs[1]),
        log_deviation=log_deviation,
        freedom=freedom,
        comparisons=comparisons,
    )


def freedom_of_difference(errors: Sequence[float], rounds: Sequence[int]) -> float:
    """Return Satterthwaite's degrees of freedom of the difference of two means with these standard errors."""
    variances = [error**2 for error in errors]
    divisor = sum(variance**2 / (count - 1) for variance, count in zip(variances, rounds, strict=True))
    return sum(variances) ** 2 / divisor if divisor else float(min(rounds) - 1)
