"""Find the commit that made a server slower, although each measurement of a commit may be wrong.

Commits are numbered from the oldest, 0, to the newest, which the user calls bad. The gate decides whether the newest commit is bad. If it
is, :func:`step_bound` separates good commits from bad ones. Commit *k* is the first bad one if a correct measurement calls commits *k* and
later bad, and all earlier ones good. One more hypothesis is that no commit is bad. Before anything is measured, it has the probability
:data:`PRIOR_NONE`, and all commits share the rest equally.

A measurement calls the wrong side with a probability of at most ε, independently of other measurements. ε is at most :data:`STEP_ERROR` if
the measured interval is on one side of the bound, lower if it is far from the bound, and higher if it contains the bound
(:func:`step_error`). By Bayes' theorem, each measurement multiplies the probability of the hypotheses that agree with it by 1 − ε, and that
of all others by ε. The next commit to measure is the one whose result says most, which is usually the median of the distribution. The
search ends when one hypothesis has the probability :data:`CERTAINTY`, whichever commits were measured. It therefore measures the first bad
commit and the last good one again if their intervals are close to the bound. At least 95% of searches are right, wherever the first bad
commit is (``benchmarks/bisection/simulate.py``).

If the measured changes aren't one step, the search still ends at a commit that was called bad and whose predecessor was called good. After
a regression, a fix and another regression, this is one of the two regressions. After several regressions of different sizes, it is usually
the largest.

Sources: M. Horstein, "Sequential transmission using noiseless feedback", IEEE Transactions on Information Theory 9, 1963. R. Waeber, P. I.
Frazier and S. G. Henderson, "Bisection search with noisy responses", SIAM Journal on Control and Optimization 51, 2013. M. Ben-Or and A.
Hassidim, "The Bayesian learner is optimal for noisy binary search", FOCS 2008.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

import numpy as np

from httpbench.stats.interval import ConfidenceInterval, Floats, p_value, quantile

STEP_ERROR = 0.05
"""Highest assumed probability that a measurement calls the wrong side. The true one is at most 4%: that is how often each side is called
for a change exactly at the bound, with a look at the 95% interval after each of :data:`LOOKS` (``benchmarks/bisection/simulate.py``)."""

STEP_ERROR_MIN = 0.005
"""Lowest assumed probability that a measurement calls the wrong side. The noise of rounds isn't exactly normal, so nothing more is known
about rare errors."""

LOOKS = (5, 10, 20, 40)
"""Numbers of rounds after which a measurement of the newest commit ends if its gate is decided. There are few, because each look at the
interval adds errors."""

LOOKS_WITHIN = LOOKS[:3]
"""The same for all other commits. They get fewer rounds, because the search can also measure their neighbors, or measure them again."""

ERROR_MAX = 0.5
"""Assumed error of a measurement that says nothing."""

CERTAINTY = 0.98
"""Probability at which the search ends. With 0.95, a search would be right in 95% of cases on average over all commits, but in only 86% of
cases for some of them, because the newest commit is measured first and a single error then weighs most."""

PRIOR_NONE = 0.5
"""Probability that no commit is bad, before anything is measured. The search therefore begins with the newest commit."""

MEASUREMENTS_MIN, MEASUREMENTS_PER_HALVING = 10, 5
"""Limit on measurements: a constant, and a number for each halving of the commits. Only contradictory measurements reach it."""


UNDECIDED_MAX = 3
"""Number of measurements without a clear result after which a commit isn't measured again. Most of them take all rounds."""

ROUNDING = 1e-9
"""Maximum error of a sum of probabilities."""


class Answer(StrEnum):
    """The result of measuring a commit."""

    GOOD = "good"  # the whole interval is on the side of no change
    BAD = "bad"  # the whole interval is beyond the bound
    UNDECIDED = "undecided"  # the interval still contained the bound after the last round
    SKIPPED = "skipped"  # the commit could not be built, started or measured

    @property
    def decides(self) -> bool:
        """Whether the commit was called good or bad."""
        return self in (Answer.GOOD, Answer.BAD)


class Ending(StrEnum):
    """How a search ends."""

    FOUND = "found"  # the first bad commit is known, or a range of which all but the last commit could not be judged
    NONE = "none"  # no commit is bad
    UNDECIDED = "undecided"  # the measurements contradict each other, or the newest commit could not be judged


@dataclass(frozen=True, slots=True)
class Answered:
    """One measurement."""

    commit: int
    answer: Answer
    error: float = STEP_ERROR
    """Assumed probability that the answer is wrong, if it is good or bad."""


@dataclass(frozen=True, slots=True)
class Narrowed:
    """The commits among which the first bad one is, according to the measurements so far."""

    ending: Ending
    """How the search ends if nothing more is measured."""
    first: int
    """First commit of the range that contains the first bad commit."""
    last: int
    """Last commit of the range. The number of commits: perhaps no commit is bad."""
    probability: float
    """Probability of the range."""


def step_bound(newest: float, others: Iterable[float]) -> float:
    """Return the change that separates good commits from bad ones: the middle of the widest gap between measured changes.

    Arguments and result are natural logarithms of ratios to the good commit: of the newest commit, which breaches the gate, and of all
    others that were measured. Gaps are between no change and that of the newest commit. After one regression, the measured changes lie
    around these two, so the bound is far from both. The gate's own bound may be close to one of them, and intervals would then have to be
    much narrower.
    """
    low, high = sorted((0.0, newest))
    changes = sorted((low, high, *(min(max(change, low), high) for change in others)))
    below, above = max(pairwise(changes), key=lambda gap: gap[1] - gap[0])
    return (below + above) / 2


def step_error(limit: float, interval: ConfidenceInterval, rounds: int) -> float:
    """Return the assumed probability that the true ratio is on the other side of a bound than the middle of its interval.

    This is twice the one-sided p-value of Student's t for a true ratio at the bound, which allows for several looks, but at least
    :data:`STEP_ERROR_MIN`. It is at most :data:`STEP_ERROR` if the interval is on one side, and up to one half if it contains the bound.
    ``limit`` is the bound as a ratio, and ``interval`` the 95% interval of the measured ratio.
    """
    if min(limit, interval.low) <= 0:
        return STEP_ERROR if not interval.low < limit < interval.high else ERROR_MAX
    low, high, bound = math.log(interval.low), math.log(interval.high), math.log(limit)
    half_width, distance = (high - low) / 2, max(low - bound, bound - high)
    p = p_value(distance + half_width, half_width / quantile(rounds), rounds - 1)
    return min(max(p, STEP_ERROR_MIN), STEP_ERROR if distance >= 0 else ERROR_MAX)


def posterior(commits: int, answers: Sequence[Answered]) -> Floats:
    """Return the probability of each commit to be the first bad one. The last value is the probability that no commit is bad."""
    logs = np.log(np.append(np.full(commits, (1 - PRIOR_NONE) / commits), PRIOR_NONE))
    first_bad = np.arange(commits + 1)
    for each in answers:
        if each.answer.decides:
            agrees = (first_bad <= each.commit) == (each.answer is Answer.BAD)
            logs += np.where(agrees, math.log1p(-each.error), math.log(each.error))
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def next_commit(commits: int, answers: Sequence[Answered]) -> int | None:
    """Return the commit to measure next, or ``None`` if the search has ended.

    The choice maximizes the expected information, times the chance that the commit can be judged. Neighbors of a commit that was skipped or
    undecided probably can't be judged either: at a distance of d commits, the chance is assumed to be 1 − 2⁻ᵈ.
    """
    measured = sum(each.answer is not Answer.SKIPPED for each in answers)
    if narrowed(commits, answers).ending is not Ending.UNDECIDED or measured >= limit(commits):
        return None
    unjudged = _unjudged(answers)
    if commits - 1 in unjudged:
        return None  # without the newest commit, nothing shows that there is a bad one
    bad = np.cumsum(posterior(commits, answers))[:commits]
    information = _entropy(bad * (1 - STEP_ERROR) + (1 - bad) * STEP_ERROR) - _entropy(np.array([STEP_ERROR]))
    judged = {each.commit for each in answers if each.answer.decides}
    undecided = Counter(each.commit for each in answers if each.answer is Answer.UNDECIDED or each.error > STEP_ERROR)
    chances = np.array([1.0 if commit in judged else _chance(commit, unjudged) for commit in range(commits)])
    chances[[commit for commit, times in undecided.items() if times >= UNDECIDED_MAX]] = 0.0
    best = int((information * chances).argmax())
    return best if chances[best] > 0 else None


def narrowed(commits: int, answers: Sequence[Answered]) -> Narrowed:
    """Return the smallest range that contains the first bad commit with the probability :data:`CERTAINTY`.

    A commit that can't be judged shares a range with the next commit that can.
    """
    unjudged = _unjudged(answers)
    if commits - 1 in unjudged:
        return Narrowed(Ending.UNDECIDED, 0, commits, 1.0)
    lasts = np.array([commit for commit in range(commits) if commit not in unjudged] + [commits])
    firsts = np.append(0, lasts[:-1] + 1)
    below = np.append(0.0, np.cumsum(posterior(commits, answers)))
    begins, ends = below[firsts], below[lasts + 1]
    starts = np.arange(len(lasts))
    stops = np.searchsorted(ends, begins + CERTAINTY - ROUNDING)  # the first end that makes each range probable enough
    starts = starts[stops < len(ends)]
    stops = stops[starts]
    best = np.lexsort((begins[starts] - ends[stops], stops - starts))[0]
    start, stop = starts[best], stops[best]
    ending = Ending.UNDECIDED if start != stop else Ending.NONE if lasts[stop] == commits else Ending.FOUND
    return Narrowed(ending, int(firsts[start]), int(lasts[stop]), float(ends[stop] - begins[start]))


def limit(commits: int) -> int:
    """Return the maximum number of measurements."""
    return MEASUREMENTS_MIN + MEASUREMENTS_PER_HALVING * math.ceil(math.log2(commits + 1))


def _unjudged(answers: Sequence[Answered]) -> set[int]:
    """Return the commits that were skipped or undecided and never judged."""
    return {each.commit for each in answers} - {each.commit for each in answers if each.answer.decides}


def _chance(commit: int, unjudged: set[int]) -> float:
    """Return the assumed chance that a commit can be judged."""
    return 1 - 0.5 ** min((abs(commit - other) for other in unjudged), default=math.inf)


def _entropy(shares: Floats) -> Floats:
    """Return the entropy of a binary variable that is true with each of these probabilities, in bits."""
    inner = np.clip(shares, 1e-300, 1 - 1e-16)
    return np.asarray(-inner * np.log2(inner) - (1 - inner) * np.log2(1 - inner), dtype=np.float64)
