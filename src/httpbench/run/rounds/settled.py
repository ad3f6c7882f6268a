"""Decide between rounds whether more rounds can change the outcome of a run's gates."""

from __future__ import annotations

from httpbench.analysis.compared import LOST
from httpbench.analysis.gates import Obstacle, RunGate, gated
from httpbench.model import ReasonKind, TrialPlan
from httpbench.run.plan.spec import RunSpec
from httpbench.run.rounds.record import Record
from httpbench.stats.gates import Passage


def is_settled(spec: RunSpec, planned: TrialPlan, record: Record) -> bool:
    """Return whether the run may end before the trial ``planned``. A run may end only between rounds.

    It ends as soon as no target can be judged, because each of them has lost a round. Intervals are looked at only after the numbers of
    rounds in ``spec.looks``.
    """
    if not record.trials or record.trials[-1].plan.round == planned.round:
        return False
    lost = {trial.plan.target for trial in record.trials if trial.verdict.kind in LOST}
    if lost >= set(spec.target_ids) - {spec.baseline}:
        return True
    if planned.round not in spec.looks:
        return False
    outcome = record.outcome()
    return all(_is_final(judged) for judged in gated(outcome.run, outcome.trials))


def _is_final(judged: RunGate) -> bool:
    """Return whether more rounds can't change the outcome of a gate."""
    if judged.obstacle is Obstacle.TOO_FEW_ROUNDS:  # final only if valid rounds lack the figure
        return judged.rounds == 0 and judged.row is not None and judged.row.counts
    if judged.passage is Passage.UNKNOWN:
        return judged.lost is None or judged.lost.kind is not ReasonKind.ROUNDS_DISTURBED
    return judged.passage is not Passage.INCONCLUSIVE or bool(judged.causes)
