"""Report CPU time that a quota or steal withheld from a trial, whatever its verdict.

`disturbance.py` reports steal that disturbs a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from httpbench.model import Reason, ReasonKind, Trial
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import Evidence, evidence_of, throttled

STEAL_SHARE_MIN = 0.05
"""Share of a core taken by other virtual machines above which steal is always reported."""


WITHHELD = frozenset((ReasonKind.QUOTA_STOPPED_TARGET, ReasonKind.STEAL))
"""Kinds of these reasons."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """One way in which CPU time was withheld."""

    share: float
    reason: Reason


def withheld(evidence: Evidence) -> dict[str, Withheld]:
    """Return how much CPU time was withheld in each way, omitting amounts too small to matter."""
    found = {}
    if share := throttled(evidence.observed.target_usage):
        found["quota"] = Withheld(share, Reason.of(ReasonKind.QUOTA_STOPPED_TARGET, periods_share=share))
    stolen = [core for core in evidence.observed.occupancy if core.stolen >= STEAL_SHARE_MIN]
    if stolen and not any(each.is_steal for each in disturbances(evidence)):
        taken = [{"cpu": core.cpu, "share": core.stolen} for core in stolen]
        found["steal"] = Withheld(max(core.stolen for core in stolen), Reason.of(ReasonKind.STEAL, cores=taken))
    return found


def withheld_in_rounds(trials: Sequence[Trial]) -> Iterator[Reason]:
    """Yield the worst round of each way in which CPU time was withheld, with the number of affected rounds."""
    known = [withheld(evidence) for trial in trials if (evidence := evidence_of(trial))]
    for way in ("quota", "steal"):
        rounds = [found[way] for found in known if way in found]
        if rounds:
            worst = max(rounds, key=lambda each: each.share)
            counts = {"found": len(rounds), "rounds": len(known)}
            yield Reason.of(ReasonKind.WORST_ROUND, reason=worst.reason.dumped, **counts) if len(known) > 1 else worst.reason
