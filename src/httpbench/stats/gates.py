"""Evaluate gates, which limit how much a result may change.

A gate passes if the whole interval is within its bound, and is breached if the whole interval is beyond it. If the interval contains the
bound, the gate is inconclusive. A target with failed or invalid rounds is never judged, because its remaining rounds may be the ones in
which it happened to do well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from enum import StrEnum

from httpbench.model import Gate, Reason, ReasonKind, Trial, VerdictKind
from httpbench.stats.interval import ConfidenceInterval, expected_reach
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison
from httpbench.stats.unpaired import Change


class Passage(StrEnum):
    PASSED = "passed"
    BREACHED = "breached"
    INCONCLUSIVE = "inconclusive"  # the interval contains the bound
    UNKNOWN = "unknown"  # there is no interval, or rounds of the judged target failed or are invalid


def passage(gate: Gate, interval: ConfidenceInterval | None, *, may_be_lower: bool = False, may_be_higher: bool = False) -> Passage:
    """Return the result of the gate for a ratio with this interval.

    ``may_be_lower`` and ``may_be_higher`` say whether the true ratio may lie below or above the interval, because a result is only a bound.
    """
    if interval is None:
        return Passage.UNKNOWN
    limit = 1 + gate.change
    low, high = 0.0 if may_be_lower else interval.low, math.inf if may_be_higher else interval.high
    if low < limit < high:
        return Passage.INCONCLUSIVE
    is_beyond = low < limit if gate.side == "<" else high > limit
    return Passage.BREACHED if is_beyond else Passage.PASSED


def leaves_open(passages: Iterable[Passage], *, fails_if_inconclusive: bool) -> bool:
    """Return whether any gate is unknown or, if ``fails_if_inconclusive``, inconclusive."""
    return any(kind is Passage.UNKNOWN or (fails_if_inconclusive and kind is Passage.INCONCLUSIVE) for kind in passages)


def rounds_to_decide(gate: Gate, found: Comparison | Change) -> int | None:
    """Return how many rounds it would take to decide the gate, or ``None`` if that is more than :data:`ROUNDS_PATIENCE` or unknown.

    The gate is decided when the interval no longer contains the bound. The ratio and the noise of a round are assumed to stay the same.
    """
    if found.log_deviation is None or found.freedom is None:
        return None
    limit = 1 + gate.change
    distance = abs(math.log(found.ratio / limit)) if limit > 0 else math.inf
    for more in range(1, ROUNDS_PATIENCE + 1 - found.rounds):
        if expected_reach(found.log_deviation, found.rounds + more, found.freedom + more, found.comparisons) < distance:
            return found.rounds + more
    return None


def lost_rounds(trials: Sequence[Trial]) -> Reason | None:
    """Return how many rounds failed or are invalid, with the first reason; ``None`` if there are no such rounds."""
    lost = [trial.verdict for trial in trials if trial.verdict.kind in (VerdictKind.FAILED, VerdictKind.INVALID)]
    if not lost:
        return None
    reason = next((verdict.reasons[0] for verdict in lost if verdict.reasons), None)
    return Reason.of(ReasonKind.LOST_ROUNDS, found=len(lost), rounds=len(trials), reason=reason.dumped if reason else None)
