"""Choose the next rate in a search for the highest rate that holds, even if trials at one rate disagree.

In this module, a rate *holds* in a trial if the trial meets the service level. The rules come from MLRsearch (Multiple Loss Ratio Search,
draft-ietf-bmwg-mlrsearch, IETF Benchmarking Methodology Working Group), with an exceed ratio of one half:

- A rate is decided as soon as its remaining trials can't change the outcome. It is a *lower bound* if it holds in at least half of its
  trials even if all remaining trials fail. It is an *upper bound* if it fails in more than half of its trials even if all remaining trials
  hold.
- The result is the highest lower bound below the lowest upper bound. A rate that holds above a rate that fails (*loss inversion*) doesn't
  count, because a target that holds a rate must also hold all lower rates.
- When the interval is narrow enough, the search retests both ends. It alternates between them, so that the trials at each end are spread
  over time. All trials at an end count, including the earlier ones. If an upper bound turns out to hold, it becomes a lower bound, and the
  search continues above it.
- If trials disagree over a range wider than the requested width, the search ends with that range instead of halving it further.
- Short trials (*scouts*) come first. They only narrow the range of rates. Each phase begins at the ends of the interval that the previous
  phase found. If the phase doesn't confirm an end, the search moves outward from that end, doubling its step each time.

There are five differences from MLRsearch. A trial must meet a service level instead of a packet loss ratio. Scouts run one trial per rate,
and the result doesn't include them. Both ends are retested. If trials disagree, the search accepts a wider interval. Intervals are halved
on a logarithmic scale, on which a width is the same fraction of any rate.

The ends are retested because two or three consecutive trials decide a rate, and one noisy minute can spoil all of them. Without a retest, a
rate that failed only for this reason would remain an upper bound until the end of the search.

A search for a width of 1% with three trials per rate needs about twenty trials that count. Because so few trials decide a rate, a rate that
would hold in only 40% of many trials becomes a lower bound in about one of three searches. The resulting error is about as large as the
width.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

EXCEED_RATIO = 0.5
"""Maximum share of failed trials at a rate that counts as a lower bound."""

RATE_MAX_RPS = 1e8
"""Highest rate that the load generator accepts."""

RATE_DIGITS = 4
"""Number of significant digits of the rates to try. Rounding changes a rate by at most 0.05%. The smallest width of a search is 0.2%."""

STRIDES_MAX = 6
"""Maximum number of times that a stride (a step outward from an end) is doubled. With a width of 5%, the longest stride multiplies or
divides the rate by 23."""

RETEST_TRIALS = 4
"""Maximum number of trials at an end whose trials disagree, as a multiple of ``trials``. The search adds one more trial to rule out a
tie."""

AGREEING_MIN = 2
"""Minimum number of failed trials, and of successful trials at the same or higher rates, before the search accepts a wider interval. A
single trial may have been disturbed."""


class LimitSide(Enum):
    LOWER = "lower"
    UPPER = "upper"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class RateObservation:
    """The result of one trial."""

    rate_rps: float
    duration_s: float
    held: bool


@dataclass(frozen=True, slots=True)
class SearchPhase:
    """Parameters of one part of a search."""

    trials: int
    width: float
    duration_s: Callable[[float], float]
    """Function that returns the duration of a trial at a given rate, in seconds."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The next trial to run."""

    rate_rps: float
    duration_s: float


@dataclass(frozen=True, slots=True)
class Bounds:
    """The interval that contains the result: the target sustains the rate ``lower`` but not the rate ``upper``.

    ``None``: no such rate is known.
    """

    lower: float | None
    upper: float | None

    def is_within(self, width: float) -> bool:
        """Return whether the interval is at most this wide, or so narrow that no other rate fits between the bounds."""
        if self.lower is None or self.upper is None:
            return False
        return self.upper / self.lower - 1 <= width or _rounded(math.sqrt(self.lower * self.upper)) in (self.lower, self.upper)


def place(held: Iterable[bool], trials: int) -> LimitSide:
    """Classify a rate by the results of its trials so far, given that ``trials`` trials are planned."""
    results = list(held)
    wanted = max(trials, len(results))
    failed, missing = results.count(False), wanted - len(results)
    if failed + missing <= EXCEED_RATIO * wanted:
        return LimitSide.LOWER
    return LimitSide.UPPER if failed > EXCEED_RATIO * wanted else LimitSide.UNDECIDED


def retested_place(held: Sequence[bool], trials: int) -> LimitSide:
    """Classify an end of the interval by all its trials.

    The end is decided when the difference between the numbers of held and failed trials is greater than ``trials``. When the end has had
    the maximum number of trials, the majority decides.
    """
    lead = 2 * sum(held) - len(held)
    if abs(lead) <= trials and len(held) < RETEST_TRIALS * trials + 1:
        return LimitSide.UNDECIDED
    return LimitSide.LOWER if lead > 0 else LimitSide.UPPER


def places(observations: Iterable[RateObservation], phase: SearchPhase) -> dict[float, LimitSide]:
    """Classify each rate that had sufficiently long trials, in ascending order.

    The first decision about a rate stands until a retest of this rate is decided.
    """
    results = _results(observations, phase)
    return {rate: _standing(results[rate], phase.trials) for rate in sorted(results)}


def _results(observations: Iterable[RateObservation], phase: SearchPhase) -> dict[float, list[bool]]:
    """Return the results of each rate that had sufficiently long trials. The least recently tried rate comes first."""
    results: dict[float, list[bool]] = {}
    for one in observations:
        if one.duration_s >= phase.duration_s(one.rate_rps):
            results[one.rate_rps] = [*results.pop(one.rate_rps, []), one.held]
    return results


def _standing(held: Sequence[bool], trials: int) -> LimitSide:
    looks = (retested_place(held, trials), *(place(held[:count], trials) for count in range(1, len(held) + 1)))
    return next((kind for kind in looks if kind is not LimitSide.UNDECIDED), LimitSide.UNDECIDED)


def settled(observations: Sequence[RateObservation], phase: SearchPhase) -> dict[float, LimitSide]:
    """Classify each rate at the end of a search, in ascending order.

    Unlike :func:`places`, this function classifies a decided rate by the majority of all its trials, because the search may have ended
    during a retest.
    """
    results = _results(observations, phase)
    found = places(observations, phase)
    return {rate: kind if kind is LimitSide.UNDECIDED else place(results[rate], trials=1) for rate, kind in found.items()}


def bounds(found: dict[float, LimitSide]) -> Bounds:
    """Return the lowest upper bound, and the highest lower bound below it."""
    upper = min((rate for rate, kind in found.items() if kind is LimitSide.UPPER), default=None)
    lower = max((rate for rate, kind in found.items() if kind is LimitSide.LOWER and (upper is None or rate < upper)), default=None)
    return Bounds(lower, upper)


def next_offer(
    observations: Sequence[RateObservation], phases: Sequence[SearchPhase], start_rps: float, rate_min_rps: float
) -> Offer | None:
    """Return the next trial to run; ``None`` if all phases and the retest of both ends are complete."""
    hints = [_rounded(min(max(start_rps, rate_min_rps), RATE_MAX_RPS))]
    for phase in phases:
        found = places(observations, phase)
        known = bounds(found)
        is_complete = known.is_within(attainable_width(observations, phase))
        if not is_complete and (rate := _next_rate(found, known, hints, phase.width, rate_min_rps)) is not None:
            return Offer(rate, phase.duration_s(rate))
        hints = [rate for rate in (known.lower, known.upper) if rate is not None]
    return retest(observations, phases[-1])


def attainable_width(observations: Sequence[RateObservation], phase: SearchPhase) -> float:
    """Return the width at which a phase ends: the phase's own width or, if wider, the range in which trials disagree.

    At least two trials failed at or below the low end of this range, and at least two trials held at or above its high end. Narrowing the
    range further would take many more trials.
    """
    seen = [one for one in observations if one.duration_s >= phase.duration_s(one.rate_rps)]
    failed = sorted(one.rate_rps for one in seen if not one.held)[:AGREEING_MIN]
    held = sorted((one.rate_rps for one in seen if one.held), reverse=True)[:AGREEING_MIN]
    if phase.trials < AGREEING_MIN or len(failed) < AGREEING_MIN or len(held) < AGREEING_MIN:
        return phase.width
    return max(phase.width, held[-1] / failed[-1] - 1)


def retest(observations: Sequence[RateObservation], phase: SearchPhase) -> Offer | None:
    """Return another trial at the end that was tried less recently; ``None`` if both ends are decided."""
    results = _results(observations, phase)
    known = bounds(places(observations, phase))
    for rate, held in results.items():
        if rate in (known.lower, known.upper) and retested_place(held, phase.trials) is LimitSide.UNDECIDED:
            return Offer(rate, phase.duration_s(rate))
    return None


def _next_rate(found: dict[float, LimitSide], known: Bounds, hints: Sequence[float], width: float, rate_min_rps: float) -> float | None:
    undecided = (rate for rate, kind in found.items() if kind is LimitSide.UNDECIDED)
    for rate in (*undecided, *(hint for hint in hints if hint not in found)):
        if (known.lower is None or rate > known.lower) and (known.upper is None or rate < known.upper):
            return rate
    if known.lower is None:
        assert known.upper is not None, "a rate that was tried and decided is a bound"
        lower_rate = max(known.upper / _stride(found, LimitSide.UPPER, width), rate_min_rps)
        return _rounded(lower_rate) if known.upper > rate_min_rps else None
    if known.upper is None:
        higher_rate = min(known.lower * _stride(found, LimitSide.LOWER, width), RATE_MAX_RPS)
        return _rounded(higher_rate) if known.lower < RATE_MAX_RPS else None
    return _rounded(math.sqrt(known.lower * known.upper))


def _stride(found: dict[float, LimitSide], kind: LimitSide, width: float) -> float:
    """Return the next stride, as a factor. The first one equals the width, and it doubles with each further rate of this kind."""
    doublings = sum(own is kind for own in found.values()) - 1
    return float((1 + width) ** 2 ** min(doublings, STRIDES_MAX))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{RATE_DIGITS}g}")
