"""Where to look next for the highest rate at which something holds, when trials at one rate may contradict each other.

The rules are those of MLRsearch (Multiple Loss Ratio Search, draft-ietf-bmwg-mlrsearch, IETF Benchmarking Methodology Working Group), with
an exceed ratio of one half:

- A rate is decided as soon as the trials that are still to come cannot change it: it is a *lower bound* when it holds in at least half of
  its trials even if all that are missing should not hold, an *upper bound* when it fails in more than half even if they should.
- The result is the highest lower bound below the lowest upper bound. A rate that holds above one that does not (*loss inversion*) is not
  believed: who is promised a rate is promised all lower ones.
- When the interval is narrow, both ends are tried again, by turns, so that other trials lie between those of one end. All trials of an
  end decide together: an upper bound that holds now is reopened, and the search goes on above it.
- Short trials come first and only show where to look (*scouts*); each phase begins at the ends of the interval that the one before found,
  and where they do not stand the test, steps away from them in strides that double.

Different is what a trial must show (a service level instead of packets lost), that scouts are single and do not count at the end, that
ends are tried again, and that intervals are halved on the scale of logarithms, where a width is the same share of every rate.

Why ends are tried again: a rate is decided by two or three trials in a row, and one loud minute can spoil all of them. Without a second
look such a minute would stand as an upper bound for ever.

Cost: for a width of 1% and three trials about twenty trials that count. The price: a rate is judged by few trials, so one that would hold
in 40% of an endless number of them comes out as a lower bound in one of three searches. That is noise of the size of the width, not of
the result.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum

EXCEED_RATIO = 0.5
"""Share of a rate's trials that may fail at a lower bound."""

RATE_MAX_RPS = 1e8
"""What the load generator takes at most."""

RATE_DIGITS = 4
"""Significant digits of the rates that are tried: a tenth of the smallest width that is of use."""


STRIDES_MAX = 6
"""Doublings of a stride: with a width of 5% the longest is a factor of 23."""


RETEST_TRIALS = 4
"""Times the trials of a rate, plus one: the most at an end whose trials contradict each other."""

RETEST_AFTER_TRIALS = 4
"""Other trials before an end is tried again, where it is doubtful; where there are fewer, the search waits for as long instead."""

RETEST_WAIT_MAX_S = 30.0


class Place(Enum):
    LOWER = "lower"
    UPPER = "upper"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Observation:
    """One trial."""

    rate_rps: float
    duration_s: float
    held: bool


@dataclass(frozen=True, slots=True)
class Phase:
    """How rates are tried in one part of a search."""

    trials: int
    width: float
    duration_s: Callable[[float], float]
    """Of a trial at a rate."""


@dataclass(frozen=True, slots=True)
class Offer:
    """The trial to be made next."""

    rate_rps: float
    duration_s: float
    wait_s: float = 0.0
    """Before it is made."""


@dataclass(frozen=True, slots=True)
class Bounds:
    """What is known: the level holds at ``lower`` and not at ``upper``; ``None`` where no rate is known to be such."""

    lower: float | None
    upper: float | None

    def is_within(self, width: float) -> bool:
        """Whether they are so close together, or so close that no rate lies between them."""
        if self.lower is None or self.upper is None:
            return False
        return self.upper / self.lower - 1 <= width or _rounded(math.sqrt(self.lower * self.upper)) in (self.lower, self.upper)


def place(held: Iterable[bool], trials: int) -> Place:
    """Of a rate with these results so far, out of ``trials``."""
    results = list(held)
    wanted = max(trials, len(results))
    failed, missing = results.count(False), wanted - len(results)
    if failed + missing <= EXCEED_RATIO * wanted:
        return Place.LOWER
    return Place.UPPER if failed > EXCEED_RATIO * wanted else Place.UNDECIDED


def retested_place(held: Sequence[bool], trials: int) -> Place:
    """Of an end of the interval, by all its trials: one result leads by more than ``trials``, or has the majority of the most trials."""
    lead = 2 * sum(held) - len(held)
    if abs(lead) <= trials and len(held) < RETEST_TRIALS * trials + 1:
        return Place.UNDECIDED
    return Place.LOWER if lead > 0 else Place.UPPER


def places(observations: Iterable[Observation], phase: Phase) -> dict[float, Place]:
    """Each rate that was tried for long enough, ascending. What its first trials decided stands until a retest is decided."""
    results = _results(observations, phase)
    return {rate: _standing(results[rate], phase.trials) for rate in sorted(results)}


def _results(observations: Iterable[Observation], phase: Phase) -> dict[float, list[bool]]:
    """Of each rate that was tried for long enough; the rate that was tried longest ago first."""
    results: dict[float, list[bool]] = {}
    for one in observations:
        if one.duration_s >= phase.duration_s(one.rate_rps):
            results[one.rate_rps] = [*results.pop(one.rate_rps, []), one.held]
    return results


def _standing(held: Sequence[bool], trials: int) -> Place:
    looks = (retested_place(held, trials), *(place(held[:count], trials) for count in range(1, len(held) + 1)))
    return next((kind for kind in looks if kind is not Place.UNDECIDED), Place.UNDECIDED)


def bounds(found: dict[float, Place]) -> Bounds:
    """The lowest upper bound, and the highest lower bound below it."""
    upper = min((rate for rate, kind in found.items() if kind is Place.UPPER), default=None)
    lower = max((rate for rate, kind in found.items() if kind is Place.LOWER and (upper is None or rate < upper)), default=None)
    return Bounds(lower, upper)


def next_offer(observations: Sequence[Observation], phases: Sequence[Phase], start_rps: float, rate_min_rps: float) -> Offer | None:
    """The trial to be made next; ``None`` when the last phase knows enough and its ends were tried again."""
    hints = [_rounded(min(max(start_rps, rate_min_rps), RATE_MAX_RPS))]
    for phase in phases:
        found = places(observations, phase)
        known = bounds(found)
        rate = None if known.is_within(phase.width) else _next_rate(found, known, hints, phase.width, rate_min_rps)
        if rate is not None:
            return Offer(rate, phase.duration_s(rate))
        hints = [rate for rate in (known.lower, known.upper) if rate is not None]
    return _retest(observations, phases[-1])


def ends_retested(observations: Sequence[Observation], phase: Phase) -> bool:
    """Whether the ends of the interval were tried again, and what they are is decided."""
    return _retest(observations, phase) is None


def _retest(observations: Sequence[Observation], phase: Phase) -> Offer | None:
    """Of both ends the one that was tried longest ago, so that they take turns; ``None`` when both were tried again."""
    results = _results(observations, phase)
    known = bounds(places(observations, phase))
    for rate, held in results.items():
        if rate in (known.lower, known.upper) and retested_place(held, phase.trials) is Place.UNDECIDED:
            wait_s = _wait_s(rate, observations, phase) if _is_doubtful(observations, known, phase.width) else 0.0
            return Offer(rate, phase.duration_s(rate), wait_s)
    return None


def _is_doubtful(observations: Iterable[Observation], known: Bounds, width: float) -> bool:
    """Whether a trial held well above the rates, a scout or not: perhaps what disturbed the others is still there."""
    return known.upper is not None and any(one.held and one.rate_rps > known.upper * (1 + width) for one in observations)


def _wait_s(rate: float, observations: Sequence[Observation], phase: Phase) -> float:
    """Until so much time has passed since a rate was tried last that what disturbed it then is likely to be over."""
    others = next(index for index, one in enumerate(reversed(observations)) if one.rate_rps == rate)
    return min(max(RETEST_AFTER_TRIALS - others, 0) * phase.duration_s(rate), RETEST_WAIT_MAX_S)


def _next_rate(found: dict[float, Place], known: Bounds, hints: Sequence[float], width: float, rate_min_rps: float) -> float | None:
    if (open_rate := _undecided(found, known)) is not None:
        return open_rate
    if (hint := next((rate for rate in hints if rate not in found and _is_between(rate, known)), None)) is not None:
        return hint
    if known.lower is None:
        assert known.upper is not None, "a rate that was tried and decided is a bound"
        return _stride_down(found, known.upper, width, rate_min_rps)
    if known.upper is None:
        return _stride_up(found, known.lower, width)
    return _rounded(math.sqrt(known.lower * known.upper))


def _undecided(found: dict[float, Place], known: Bounds) -> float | None:
    """A rate whose trials are not all made, and that would still tell something."""
    return next((rate for rate, kind in found.items() if kind is Place.UNDECIDED and _is_between(rate, known)), None)


def _is_between(rate: float, known: Bounds) -> bool:
    return (known.lower is None or rate > known.lower) and (known.upper is None or rate < known.upper)


def _stride_down(found: dict[float, Place], upper: float, width: float, rate_min_rps: float) -> float | None:
    if upper <= rate_min_rps:
        return None
    return _rounded(max(upper / _stride(found, Place.UPPER, width), rate_min_rps))


def _stride_up(found: dict[float, Place], lower: float, width: float) -> float | None:
    if lower >= RATE_MAX_RPS:
        return None
    return _rounded(min(lower * _stride(found, Place.LOWER, width), RATE_MAX_RPS))


def _stride(found: dict[float, Place], kind: Place, width: float) -> float:
    """As a factor: the width, doubled for each rate but the first that was decided like this."""
    doublings = sum(own is kind for own in found.values()) - 1
    return float((1 + width) ** 2 ** min(doublings, STRIDES_MAX))


def _rounded(rate: float) -> float:
    return float(f"{rate:.{RATE_DIGITS}g}")
