"""CPU time that the machine withheld from a trial, by a quota or by steal, and that is said whatever the verdict.

Steal of so much that the trial is disturbed is said there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from httpbench.model import Trial
from httpbench.stats.disturbance import disturbances
from httpbench.stats.evidence import Evidence, evidence_of, throttled

STEAL_SHARE_MIN = 0.05
"""Share of a core that other virtual machines took, from which it is always said."""


@dataclass(frozen=True, slots=True)
class Withheld:
    """One way in which CPU time was withheld."""

    share: float
    text: str


def withheld(evidence: Evidence) -> dict[str, Withheld]:
    """Way → how much; nothing where it was too little to matter."""
    found = {}
    if share := throttled(evidence.target_usage):
        found["quota"] = Withheld(share, f"the target's CPU quota stopped it in {share:.0%} of the quota's periods")
    stolen = [core for core in evidence.occupancy if core.stolen >= STEAL_SHARE_MIN]
    if stolen and not any(each.is_steal for each in disturbances(evidence)):
        named = ", ".join(f"{core.stolen:.0%} of core {core.cpu}" for core in stolen)
        found["steal"] = Withheld(max(core.stolen for core in stolen), f"steal: other virtual machines took {named}")
    return found


def withheld_in_rounds(trials: Sequence[Trial]) -> Iterator[str]:
    """Of each way the worst round, and in how many rounds it was."""
    known = [withheld(evidence) for trial in trials if (evidence := evidence_of(trial))]
    for way in ("quota", "steal"):
        rounds = [found[way] for found in known if way in found]
        if rounds:
            worst = max(rounds, key=lambda each: each.share)
            yield f"{worst.text} (worst of {len(rounds)} in {len(known)} rounds)" if len(known) > 1 else worst.text
