"""The outcome of each gate in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.analysis.changes import Cell, ChangeGate, Changes
from httpbench.analysis.gates import Obstacle, RunGate
from httpbench.model import Gate
from httpbench.report.words.loads import place, title
from httpbench.report.words.reasons import sentence
from httpbench.report.words.targets import label
from httpbench.stats.gates import Passage
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval
from httpbench.stats.paired import ROUNDS_PATIENCE

OBSTACLES = {
    Obstacle.NO_BASELINE: "the baseline {baseline} was not measured",
    Obstacle.NO_TARGET: "head lacks this target under this load",
    Obstacle.FIXED_BY_RATE: "`--rate` fixes throughput, so there is nothing to compare",
    Obstacle.LOST_ROUNDS: "{lost}",
    Obstacle.NO_ROUNDS: "a run has no valid round with this figure",
    Obstacle.TOO_FEW_ROUNDS: f"{{rounds}} rounds are not enough; at least {ROUNDS_MIN} {{where}} are required",
}


def ratio_text(ratio: float | None) -> str:
    """Format a ratio as a change: ``-4.2%``. Empty if it is unknown."""
    return "" if ratio is None else f"{ratio - 1:+.1%}"


def interval_text(interval: ConfidenceInterval | None) -> str:
    """Format the interval of a ratio as changes: ``-4.9% to -3.5%``. Empty if it is unknown."""
    return "" if interval is None else f"{interval.low - 1:+.1%} to {interval.high - 1:+.1%}"


# --- within one run -------------------------------------------------------------------------------------------------------------


def gate_place(judged: RunGate) -> str:
    """Return the target, the baseline and the table of a gate."""
    baseline = judged.group.row(judged.baseline)
    if judged.row is None or baseline is None:
        return title(judged.group)
    return f"{label(judged.row.target)} against {label(baseline.target)}, {title(judged.group)}"


def gate_reason(judged: RunGate) -> str | None:
    """Return why a gate could not be judged, or ``None`` if it was judged."""
    if judged.obstacle is None:
        return None
    where = "with the figure of both targets"
    return OBSTACLES[judged.obstacle].format(
        baseline=judged.baseline, lost=sentence(judged.lost) if judged.lost else "", rounds=judged.rounds, where=where
    )


def gate_sentence(judged: RunGate) -> str:
    """Describe the outcome of a gate: the change with its interval, or why the gate could not be judged."""
    outlook = outlook_text(judged.rounds_enough)
    return _sentence(judged.gate, gate_place(judged), judged.passage, judged.ratio, judged.interval, gate_reason(judged) or outlook)


# --- between two runs -----------------------------------------------------------------------------------------------------------


def change_gate_reason(judged: ChangeGate) -> str | None:
    """Return why a gate could not be judged, or ``None`` if it was judged."""
    if judged.obstacle is None:
        return None
    change = judged.change
    lost = judged.at.lost_head if isinstance(judged.at, Cell) else None
    rounds = min(change.rounds_base, change.rounds_head) if change else 0
    return OBSTACLES[judged.obstacle].format(lost=f"in head {sentence(lost)}" if lost else "", rounds=rounds, where="in each run")


def change_gate_sentence(judged: ChangeGate) -> str:
    """Describe the outcome of a gate: the change with its interval, or why the gate could not be judged."""
    change = judged.change
    ratio, interval = (change.ratio, change.interval) if change else (None, None)
    outlook = outlook_text(judged.rounds_enough, " in each run")
    return _sentence(judged.gate, place(judged.at), judged.passage, ratio, interval, change_gate_reason(judged) or outlook)


def change_gate_sentences(found: Changes) -> Iterator[str]:
    """List the gates that didn't pass, then the number of those that did."""
    yield from (change_gate_sentence(judged) for judged in found.gates if judged.passage is not Passage.PASSED)
    if passed := sum(judged.passage is Passage.PASSED for judged in found.gates):
        yield f"{passed} of {len(found.gates)} gates passed"


def outlook_text(enough: int | None, where: str = "") -> str:
    """Return how many rounds would decide an inconclusive gate."""
    return f"about {enough} rounds{where} would decide" if enough else f"more than {ROUNDS_PATIENCE} rounds{where} would be required"


def _sentence(gate: Gate, where: str, passage: Passage, ratio: float | None, interval: ConfidenceInterval | None, more: str) -> str:
    """Describe the outcome of a gate. ``more`` is why it could not be judged, or how many rounds would decide it."""
    if passage is Passage.UNKNOWN or ratio is None or interval is None:
        return f"NOT JUDGED {gate}: {where}: {more}"
    outlook = f"; {more}" if passage is Passage.INCONCLUSIVE else ""
    return f"{passage.upper()} {gate}: {where}: {ratio_text(ratio)}, interval {interval_text(interval)}{outlook}"
