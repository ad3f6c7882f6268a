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
from httpbench.stats.interval import ConfidenceInterval, quantile
from httpbench.stats.paired import ROUNDS_PATIENCE


class Passage(StrEnum):
    PASSED = "passed"
    BREACHED = "breached"
    INCONCLUSIVE = "inconclusive"  # the interval contains the bound
    UNKNOWN = "unknown"  # there is no interval, or rounds of the judged target failed or are invalid


def passage(gate: Gate, interval: ConfidenceInterval | None) -> Passage:
    """Return the result of the gate for a ratio with this interval."""
    if interval is None:
        return Passage.UNKNOWN
    limit = 1 + gate.change
    if interval.low < limit < interval.high:
        return Passage.INCONCLUSIVE
    is_beyond = interval.low < limit if gate.side == "<" else interval.high > limit
    return Passage.BREACHED if is_beyond else Passage.PASSED


def leaves_open(passages: Iterable[Passage], *, fails_if_inconclusive: bool) -> bool:
    """Return whether any gate is unknown or, if ``fails_if_inconclusive``, inconclusive."""
    return any(kind is Passage.UNKNOWN or (fails_if_inconclusive and kind is Passage.INCONCLUSIVE) for kind in passages)


def rounds_to_decide(gate: Gate, ratio: float, interval: ConfidenceInterval, rounds: int) -> int | None:
    """Return how many rounds it would take to decide the gate, or ``None`` if that is more than :data:`ROUNDS_PATIENCE`.

    The gate is decided when the interval no longer contains the bound. If the ratio and the noise stay the same, the half-width of an
    interval over n rounds is proportional to t(n − 1) / √n on a logarithmic scale.
    """
    limit = 1 + gate.change
    distance = abs(math.log(ratio / limit)) if limit > 0 else math.inf
    reach = math.log(interval.high / interval.low) / 2 / (quantile(rounds) / math.sqrt(rounds))
    return next((count for count in range(rounds + 1, ROUNDS_PATIENCE + 1) if reach * quantile(count) / math.sqrt(count) < distance), None)


def lost_rounds(trials: Sequence[Trial]) -> Reason | None:
    """Return how many rounds failed or are invalid, with the first reason; ``None`` if there are no such rounds."""
    lost = [trial.verdict for trial in trials if trial.verdict.kind in (VerdictKind.FAILED, VerdictKind.INVALID)]
    if not lost:
        return None
    reason = next((verdict.reasons[0] for verdict in lost if verdict.reasons), None)
    return Reason.of(ReasonKind.LOST_ROUNDS, found=len(lost), rounds=len(trials), reason=reason.dumped if reason else None)
