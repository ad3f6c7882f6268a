"""Gates within one run. Targets are compared with the baseline round by round, so that effects of the machine on both cancel out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum, auto
from typing import Self

from httpbench.analysis.beyond import NOWHERE, Beyond, Cause, beyond
from httpbench.analysis.compared import comparisons, lost_too_many
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Gate, Reason, Run, RunStatus, Trial
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Passage, lost_rounds, passage, rounds_to_decide
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.paired import Comparison
from httpbench.stats.unpaired import Change


class Obstacle(Enum):
    """A reason why a gate could not be judged."""

    NO_BASELINE = auto()
    """The baseline was not measured."""
    NO_TARGET = auto()
    """The second run (head) has no such target under this load."""
    FIXED_BY_RATE = auto()
    """The gate is about throughput, which is fixed by the load's offered rate."""
    LOST_ROUNDS = auto()
    """At least one round of the target, or too many rounds of the baseline, failed or were invalid."""
    NO_ROUNDS = auto()
    """One of the runs has no valid round with the metric."""
    TOO_FEW_ROUNDS = auto()
    """There are too few valid rounds for an interval."""


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedGate:
    """The result of a gate for one row or cell."""

    gate: Gate
    passage: Passage = Passage.UNKNOWN
    ratio: float | None = None
    """Value of the target divided by the baseline's value. In a comparison of two runs, head's value divided by base's value. ``None``:
    unknown."""
    interval: ConfidenceInterval | None = None
    """95% confidence interval of the ratio. ``None``: unknown."""
    beyond: Beyond = NOWHERE
    """Why the true ratio may lie beyond its interval."""
    obstacle: Obstacle | None = None
    """Why the gate could not be judged. ``None``: the gate was judged."""
    rounds: int = 0
    """Number of rounds in which both sides of the comparison have the metric."""
    rounds_enough: int | None = None
    """Number of rounds that would decide an inconclusive gate. ``None``: the gate isn't inconclusive, or the number isn't practical."""
    lost: Reason | None = None
    """Number of rounds that failed or were invalid, and why. ``None``: no such rounds kept the gate from being judged."""

    @property
    def causes(self) -> tuple[Cause, ...]:
        """Why more rounds can't decide an inconclusive gate: the reasons why the true ratio may lie on the other side of the bound."""
        if self.passage is not Passage.INCONCLUSIVE or self.ratio is None:
            return ()
        return self.beyond.higher if self.ratio < 1 + self.gate.change else self.beyond.lower

    def by_ratio(self, found: Comparison | Change) -> Self:
        """Return this gate with its ratio and result, or without them if there is an obstacle."""
        if self.obstacle is not None:
            return replace(self, rounds=found.rounds)
        outcome = passage(self.gate, found.interval, may_be_lower=bool(self.beyond.lower), may_be_higher=bool(self.beyond.higher))
        judged = replace(self, rounds=found.rounds, ratio=found.ratio, interval=found.interval, passage=outcome)
        if outcome is not Passage.INCONCLUSIVE or judged.causes:
            return judged
        return replace(judged, rounds_enough=rounds_to_decide(self.gate, found))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunGate(JudgedGate):
    """The result of a gate for one target, or for a table without the baseline."""

    group: Group
    baseline: str | None
    """Id of the baseline."""
    row: Row | None = None
    """Row of the target. ``None``: the table lacks the baseline, so no target is judged."""


def gated(run: Run, trials: Sequence[Trial]) -> list[RunGate]:
    """Judge every gate of a run for every row except the baseline. The list is empty if the run was interrupted."""
    if not run.gates or run.status is RunStatus.INTERRUPTED:
        return []
    return [judged for group in groups(run, trials) for judged in _of_table(group, run.baseline, run.gates)]


def _of_table(group: Group, baseline: str | None, gates: Sequence[Gate]) -> Iterator[RunGate]:
    theirs = group.row(baseline)
    if theirs is None:
        yield from (RunGate(gate=gate, group=group, baseline=baseline, obstacle=Obstacle.NO_BASELINE) for gate in gates)
        return
    for row in group.rows:
        if row is not theirs:
            yield from (_judged(gate, row, theirs, group) for gate in gates)


def _judged(gate: Gate, row: Row, theirs: Row, group: Group) -> RunGate:
    (found,) = comparisons(group, BY_NAME[gate.figure], [(row, theirs)])
    lost = lost_rounds(row.trials) or lost_too_many(row.trials) or lost_too_many(theirs.trials)
    judged = RunGate(
        gate=gate,
        group=group,
        baseline=theirs.target.id,
        row=row,
        obstacle=_obstacle(gate, group, lost, found),
        lost=lost,
        beyond=beyond(BY_NAME[gate.figure].name, row, theirs, found.interval if found else None),
    )
    return judged.by_ratio(found) if found else judged


def _obstacle(gate: Gate, group: Group, lost: Reason | None, found: Comparison | None) -> Obstacle | None:
    if gate.figure == "rps" and group.load.rate_rps is not None:
        return Obstacle.FIXED_BY_RATE
    if lost:
        return Obstacle.LOST_ROUNDS
    return Obstacle.TOO_FEW_ROUNDS if found is None or found.interval is None else None
