"""Evaluate gates, which limit how much a result may change.

A gate fails only if the whole interval is beyond its bound, so noise can't break it. A target that fails in some rounds is never judged:
the rounds it survived are those in which it did well.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from httpbench.model import Gate, Reason, ReasonKind, Trial, VerdictKind
from httpbench.stats.interval import ConfidenceInterval


class Passage(StrEnum):
    PASSED = "passed"
    BREACHED = "breached"
    UNKNOWN = "unknown"  # there is no interval, or rounds of the judged target failed or are invalid


def passage(gate: Gate, interval: ConfidenceInterval | None) -> Passage:
    """Return whether a ratio with this interval passes the gate."""
    if interval is None:
        return Passage.UNKNOWN
    limit = 1 + gate.change
    is_beyond = interval.high < limit if gate.side == "<" else interval.low > limit
    return Passage.BREACHED if is_beyond else Passage.PASSED


def leaves_doubt(gate: Gate, interval: ConfidenceInterval) -> bool:
    """Return whether the bound lies within the interval.

    A change beyond the bound is then neither shown nor excluded, and the gate passes.
    """
    return interval.low < 1 + gate.change < interval.high


def lost_rounds(trials: Sequence[Trial]) -> Reason | None:
    """Return how many rounds failed or are invalid, with the first reason; ``None`` if all rounds are valid."""
    lost = [trial.verdict for trial in trials if trial.verdict.kind in (VerdictKind.FAILED, VerdictKind.INVALID)]
    if not lost:
        return None
    reason = next((verdict.reasons[0] for verdict in lost if verdict.reasons), None)
    return Reason.of(ReasonKind.LOST_ROUNDS, found=len(lost), rounds=len(trials), reason=reason.dumped if reason else None)
