"""One figure of two runs compared: what changed from one to the other, and what their rounds can tell of it.

The rounds of two runs were not interleaved, so they are not pairs: the ratio is that of the geometric means, and its interval is Welch's t
on the logarithms, which does not require that both runs vary alike (B. L. Welch, «The generalization of "Student's" problem when several
different population variances are involved», Biometrika 34, 1947; degrees of freedom after F. E. Satterthwaite, Biometrics Bulletin 2,
1946).

Like that of a comparison within a run, it holds whichever seventh of the rounds of one of the two runs is left out: see
:mod:`httpbench.stats.interval`.

The price is large, and no formula removes it: whatever differed between the two runs (a neighbour, a colder room, another day) is in the
ratio and in no interval. Only rounds of one run are free of it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from httpbench.model import Frozen
from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN, ConfidenceInterval, centres, standard_error


class Change(Frozen):
    """Head / base, of one figure."""

    base: float
    """Geometric mean over the rounds that count."""
    head: float
    ratio: float
    interval: ConfidenceInterval | None
    """Of the ratio; all intervals of the figure together hold the truth with a confidence of 95%. ``None``: fewer than three rounds."""
    rounds_base: int
    rounds_head: int

    @property
    def differs(self) -> bool:
        """Whether a difference may be claimed."""
        return self.interval is not None and not self.interval.low <= 1 <= self.interval.high


def change(base: Sequence[float], head: Sequence[float], comparisons: int = 1, resolution: float = 0.0) -> Change | None:
    """``None`` where one has no figure above zero.

    ``comparisons``: how many intervals the figure has in all; each is made wider by Bonferroni's inequality, so that all hold together.
    ``resolution``: the relative step in which the figure was recorded; no interval is narrower.
    """
    logs = [np.log(np.array([value for value in values if value > 0], dtype=np.float64)) for values in (base, head)]
    if not all(len(each) for each in logs):
        return None
    means = [float(each.mean()) for each in logs]
    centre = means[1] - means[0]
    interval = None
    if min(len(each) for each in logs) >= ROUNDS_MIN:
        errors = [standard_error(each) for each in logs]
        reach = _reach(errors, [len(each) for each in logs], comparisons) + resolution
        (base_low, base_high), (head_low, head_high) = (centres(each) for each in logs)
        low = min(head_low - means[0], means[1] - base_high)
        high = max(head_high - means[0], means[1] - base_low)
        interval = ConfidenceInterval(low=math.exp(low - reach), high=math.exp(high + reach))
    return Change(
        base=math.exp(means[0]),
        head=math.exp(means[1]),
        ratio=math.exp(centre),
        interval=interval,
        rounds_base=len(logs[0]),
        rounds_head=len(logs[1]),
    )


def _reach(errors: Sequence[float], rounds: Sequence[int], comparisons: int) -> float:
    """Half the width of the interval of a difference of two means."""
    variances = [error**2 for error in errors]
    total = sum(variances)
    if total == 0:
        return 0.0
    from scipy.special import stdtrit  # slow to load, and used by few commands

    freedom = total**2 / sum(variance**2 / (count - 1) for variance, count in zip(variances, rounds, strict=True))
    return float(stdtrit(freedom, 1 - (1 - CONFIDENCE) / comparisons / 2)) * math.sqrt(total)
