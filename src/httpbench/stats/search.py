"""Choose the next rate in a search for the highest rate that holds, even if trials at one rate disagree.

A rate *holds* in a trial that meets the service level. The rules are those of MLRsearch (Multiple Loss Ratio Search,
draft-ietf-bmwg-mlrsearch, IETF Benchmarking Methodology Working Group), with an exceed ratio of one half:

- A rate is decided as soon as its remaining trials can't change the outcome. It is a *lower bound* if it holds in at least half of its
  trials even if all remaining trials fail, and an *upper bound* if it fails in more than half even if all remaining trials hold.
- The result is the highest lower bound below the lowest upper bound. A rate that holds above a rate that fails (*loss inversion*) doesn't
  count, because a promise to hold a rate includes all lower rates.
- When the interval is narrow enough, the search tries both ends again, alternating between them, so that trials at one end aren't
  consecutive. All trials at an end are considered together. An upper bound that now holds is reopened, and the search continues above it.
- If trials disagree over a range wider than the requested width, the search ends with that range instead of halving it further.
- Short trials (*scouts*) come first and only show where to look. Each phase begins at the ends of the interval that the previous phase
  found. If the phase doesn't confirm an end, the search moves outward from that end, doubling its step each time.

There are five differences from MLRsearch. A trial must meet a service level instead of a packet loss ratio. Each scout rate gets one trial,
which doesn't count in the end. Ends are tried again. The width adapts to the differences that the machine can detect. Intervals are halved
on a logarithmic scale, where a width is the same fraction of any rate.

Ends are tried again because two or three consecutive trials decide a rate, and one noisy minute can spoil all of them. Without a retest,
such a rate would remain an upper bound until the end of the search.

A search for a width of 1% with three trials per rate needs about twenty trials that count. Because so few trials decide a rate, a rate that
would hold in 40% of many trials becomes a lower bound in one of three searches. The resulting error is about as large as the width.
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
"""Number of significant digits of the rates to try. The rounding step is at most a tenth of the smallest useful width."""

STRIDES_MAX = 6
"""Maximum number of doublings of a stride (a step outward from an end). With a width of 5%, the longest stride is a factor of 23."""

RETEST_TRIALS = 4
"""Maximum number of trials at an end whose trials disagree, as a multiple of ``trials``. One more trial is added to rule out a tie."""

AGREEING_MIN = 2
"""Minimum number of trials that must fail at low rates, and minimum number that must hold at higher rates, for this disagreement to widen
the interval. A single trial may have been disturbed."""


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
    """Known bounds: the level holds at ``lower`` and fails at ``upper``. ``None``: no such rate is known."""

    lower: float | None
    upper: float | None

    def is_within(self, width: float) -> bool:
        """Return whether the interval is at most this wide, or so narrow that there is no rate to try between the bounds."""
        if self.lower is None or self.upper is None:
            return False
        return self.upper / self.lower - 1 <= width or _rounded(math.sqrt(self.lower * self.upper)) in (self.lower, self.upper)


def place(held: Iterable[bool], trials: int) -> LimitSide:
    """Classify a rate by its results so far, if ``trials`` trials are planned for it."""
    results = list(held)
    wanted = max(trials, len(results))
    failed, missing = results.count(False), wanted - len(results)
    if failed + missing <= EXCEED_RATIO * wanted:
        return LimitSide.LOWER
    return LimitSide.UPPER if failed > EXCEED_RATIO * wanted else LimitSide.UNDECIDED


def retested_place(held: Sequence[bool], trials: int) -> LimitSide:
    """Classify an end of the interval by all its trials.

    The end is decided when one result leads by more than ``trials``, or by majority when the end has the maximum number of trials.
    """
    lead = 2 * sum(held) - len(held)
    if abs(lead) <= trials and len(held) < RETEST_TRIALS * trials + 1:
        return LimitSide.UNDECIDED
    return LimitSide.LOWER if lead > 0 else LimitSide.UPPER


def places(observations: Iterable[RateObservation], phase: SearchPhase) -> dict[float, LimitSide]:
    """Classify each rate that had sufficiently long trials, in ascending order.

    The decision from the first trials stands until a retest is decided.
    """
    results = _results(observations, phase)
    return {rate: _standing(results[rate], phase.trials) for rate in sorted(results)}


def _results(observations: Iterable[RateObservation], phase: SearchPhase) -> dict[float, list[bool]]:
    """Return the results of each rate that had sufficiently long trials, the least recently tried rate first."""
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

    Unlike :func:`places`, this function classifies a decided rate by the majority of all its trials, because a retest may not have been
    decided.
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
    """Return the next trial to run; ``None`` if the last phase is complete and the retest of its ends is done."""
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

    At or below the low end of this range, at least two trials failed; at or above its high end, at least two held. Halving this range would
    take many more trials.
    """
    seen = [one for one in observations if one.duration_s >= phase.duration_s(one.rate_rps)]
    failed = sorted(one.rate_rps for one in seen if not one.held)[:AGREEING_MIN]
    held = sorted((one.rate_rps for one in seen if one.held), reverse=True)[:AGREEING_MIN]
    if phase.trials < AGREEING_MIN or len(failed) < AGREEING_MIN or len(held) < AGREEING_MIN:
        return phase.width
    return max(phase.width, held[-1] / failed[-1] - 1)


def retest(observations: Sequence[RateObservation], phase: SearchPhase) -> Offer | None:
    """Return a retest of the end that was tried less recently, so that the ends take turns; ``None`` if both ends are decided."""
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
    """Return the next stride as a factor to apply to the rate: the width, doubled for each rate of this kind after the first."""
    doublings = sum(own is kind for own in found.values()) - 1
    return float((1 + width) ** 2 ** min(doublings, STRIDES_MAX))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{RATE_DIGITS}g}")
