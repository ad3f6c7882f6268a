"""Report CPU time that a trial lost to a quota or to steal, whatever the trial's verdict is.

``disturbance.py`` reports steal that is large enough to disturb a trial.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from operator import itemgetter

from httpbench.model import Reason, ReasonKind, Trial
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import Evidence, evidence_of, throttled

STEAL_SHARE_MIN = 0.05
"""Minimum share of a core that other virtual machines must take before this module reports steal."""

WITHHELD = (ReasonKind.QUOTA_STOPPED_TARGET, ReasonKind.STEAL)
"""Kinds of reasons that report withheld CPU time."""

DISTURBING_STEAL = (ReasonKind.STOLEN, ReasonKind.STOLEN_ON_HOST)
"""Kinds of reasons that report steal as a disturbance. If a trial has such a reason, this module doesn't report the steal again."""


def withheld(evidence: Evidence) -> dict[ReasonKind, tuple[float, Reason]]:
    """Return the withheld share and the reason, by kind of withheld CPU time. Shares that are too small to matter are omitted."""
    found = {}
    if share := throttled(evidence.observed.target_usage):
        found[ReasonKind.QUOTA_STOPPED_TARGET] = (share, Reason.of(ReasonKind.QUOTA_STOPPED_TARGET, periods_share=share))
    stolen = [core for core in evidence.observed.occupancy if core.stolen >= STEAL_SHARE_MIN]
    if stolen and not any(each.reason.kind in DISTURBING_STEAL for each in disturbances(evidence)):
        taken = [{"cpu": core.cpu, "share": core.stolen} for core in stolen]
        found[ReasonKind.STEAL] = (max(core.stolen for core in stolen), Reason.of(ReasonKind.STEAL, cores=taken))
    return found


def withheld_in_rounds(trials: Sequence[Trial]) -> Iterator[Reason]:
    """Yield a reason for each kind of withheld CPU time. It describes the worst round and contains the number of affected rounds."""
    known = [withheld(evidence) for trial in trials if (evidence := evidence_of(trial))]
    for way in WITHHELD:
        rounds = [found[way] for found in known if way in found]
        if rounds:
            _, worst = max(rounds, key=itemgetter(0))
            counts = {"found": len(rounds), "rounds": len(known)}
            yield Reason.of(ReasonKind.WORST_ROUND, reason=worst.dumped, **counts) if len(known) > 1 else worst
