"""CPU time that the machine withheld from a trial, by a quota or by steal, and that is said whatever the verdict.

Steal of so much that the trial is disturbed is said there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from httpbench.model import Reason, ReasonKind, Trial
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import Evidence, evidence_of, throttled

STEAL_SHARE_MIN = 0.05
"""Share of a core that other virtual machines took, from which it is always said."""


WITHHELD = frozenset((ReasonKind.QUOTA_STOPPED_TARGET, ReasonKind.STEAL))
"""Kinds of these reasons."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """One way in which CPU time was withheld."""

    share: float
    reason: Reason


def withheld(evidence: Evidence) -> dict[str, Withheld]:
    """Way → how much; nothing where it was too little to matter."""
    found = {}
    if share := throttled(evidence.observed.target_usage):
        found["quota"] = Withheld(share, Reason.of(ReasonKind.QUOTA_STOPPED_TARGET, periods_share=share))
    stolen = [core for core in evidence.observed.occupancy if core.stolen >= STEAL_SHARE_MIN]
    if stolen and not any(each.is_steal for each in disturbances(evidence)):
        taken = [{"cpu": core.cpu, "share": core.stolen} for core in stolen]
        found["steal"] = Withheld(max(core.stolen for core in stolen), Reason.of(ReasonKind.STEAL, cores=taken))
    return found


def withheld_in_rounds(trials: Sequence[Trial]) -> Iterator[Reason]:
    """Of each way the worst round, and in how many rounds it was."""
    known = [withheld(evidence) for trial in trials if (evidence := evidence_of(trial))]
    for way in ("quota", "steal"):
        rounds = [found[way] for found in known if way in found]
        if rounds:
            worst = max(rounds, key=lambda each: each.share)
            counts = {"found": len(rounds), "rounds": len(known)}
            yield Reason.of(ReasonKind.WORST_ROUND, reason=worst.reason.dumped, **counts) if len(known) > 1 else worst.reason
