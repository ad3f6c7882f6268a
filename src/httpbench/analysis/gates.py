"""Gates within one run: each target against the baseline, round by round, so that effects of the machine on both cancel out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum, auto

from httpbench.analysis.compared import comparisons, lost_too_many
from httpbench.analysis.groups import groups
from httpbench.analysis.rows import Group, Row
from httpbench.model import Gate, Reason, Run, RunStatus, Trial
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Passage, lost_rounds, passage, rounds_to_decide
from httpbench.stats.interval import ConfidenceInterval
from httpbench.stats.paired import Comparison


class Obstacle(Enum):
    """Why a gate could not be judged."""

    NO_BASELINE = auto()
    """The baseline was not measured."""
    NO_TARGET = auto()
    """The second run lacks the target under this load."""
    FIXED_BY_RATE = auto()
    """The load has a rate, which fixes throughput."""
    LOST_ROUNDS = auto()
    """Rounds of the target, or too many of the baseline, failed or were invalid."""
    NO_ROUNDS = auto()
    """A run has no valid round with the metric."""
    TOO_FEW_ROUNDS = auto()
    """Too few rounds count for an interval."""


@dataclass(frozen=True, slots=True)
class RunGate:
    """A gate at one target, or at a table without a baseline."""

    gate: Gate
    group: Group
    baseline: str | None
    """Id of the baseline."""
    row: Row | None
    """Row of the target. ``None``: the table lacks the baseline, so no target is judged."""
    passage: Passage
    ratio: float | None = None
    """The target's value divided by the baseline's. ``None``: unknown."""
    interval: ConfidenceInterval | None = None
    """95% confidence interval of the ratio. ``None``: unknown."""
    obstacle: Obstacle | None = None
    """Why the gate could not be judged. ``None``: it was judged."""
    rounds: int = 0
    """Number of rounds in which both have the metric."""
    rounds_enough: int | None = None
    """Number of rounds that would decide an inconclusive gate. ``None``: more than is practical."""
    lost: Reason | None = None
    """The rounds that failed or were invalid, if they are the obstacle."""


def gated(run: Run, trials: Sequence[Trial]) -> list[RunGate]:
    """Judge every gate of a run for every row except the baseline. Empty if the run was interrupted."""
    if not run.gates or run.status is RunStatus.INTERRUPTED:
        return []
    return [judged for group in groups(run, trials) for judged in _of_table(group, run.baseline, run.gates)]


def _of_table(group: Group, baseline: str | None, gates: Sequence[Gate]) -> Iterator[RunGate]:
    theirs = group.row(baseline)
    if theirs is None:
        yield from (RunGate(gate, group, baseline, None, Passage.UNKNOWN, obstacle=Obstacle.NO_BASELINE) for gate in gates)
        return
    for row in group.rows:
        if row is not theirs:
            yield from (_judged(gate, row, theirs, group) for gate in gates)


def _judged(gate: Gate, row: Row, theirs: Row, group: Group) -> RunGate:
    (found,) = comparisons(group, BY_NAME[gate.figure], [(row, theirs)])
    lost = lost_rounds(row.trials) or lost_too_many(theirs)
    obstacle = _obstacle(gate, group, lost, found)
    if obstacle is not None or found is None:
        rounds = found.rounds if found else 0
        return RunGate(gate, group, theirs.target.id, row, Passage.UNKNOWN, obstacle=obstacle, rounds=rounds, lost=lost)
    kind = passage(gate, found.interval)
    undecided = found.interval if kind is Passage.INCONCLUSIVE else None
    enough = rounds_to_decide(gate, found.ratio, undecided, found.rounds) if undecided else None
    return RunGate(gate, group, theirs.target.id, row, kind, found.ratio, found.interval, rounds=found.rounds, rounds_enough=enough)


def _obstacle(gate: Gate, group: Group, lost: Reason | None, found: Comparison | None) -> Obstacle | None:
    if gate.figure == "rps" and group.load.rate_rps is not None:
        return Obstacle.FIXED_BY_RATE
    if lost:
        return Obstacle.LOST_ROUNDS
    return Obstacle.TOO_FEW_ROUNDS if found is None or found.interval is None else None
