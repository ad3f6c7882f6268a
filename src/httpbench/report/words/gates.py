"""The outcome of each gate in sentences."""

from __future__ import annotations

from collections.abc import Iterator

from httpbench.analysis.changes import ChangeGate, Changes
from httpbench.analysis.gates import Obstacle, RunGate
from httpbench.report.words.loads import place, title
from httpbench.report.words.numbers import plural
from httpbench.report.words.reasons import sentence
from httpbench.report.words.targets import label
from httpbench.stats.gates import Passage
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval
from httpbench.stats.paired import ROUNDS_PATIENCE

OBSTACLES = {
    Obstacle.NO_BASELINE: "the baseline {judged.baseline} was not measured",
    Obstacle.NO_TARGET: "head lacks this target under this load",
    Obstacle.FIXED_BY_RATE: "`--rate` fixes throughput, so there is nothing to compare",
    Obstacle.LOST_ROUNDS: "{lost}",
    Obstacle.NO_ROUNDS: "a run has no valid round with this figure",
    Obstacle.TOO_FEW_ROUNDS: f"{{rounds}}, but at least {ROUNDS_MIN} {{where}} are required",
}


def ratio_text(ratio: float | None) -> str:
    """Format a ratio as a change: ``-4.2%``. The text is empty if the ratio is unknown."""
    return "" if ratio is None else f"{ratio - 1:+.1%}"


def interval_text(interval: ConfidenceInterval | None) -> str:
    """Format the interval of a ratio as changes: ``-4.9% to -3.5%``. The text is empty if the interval is unknown."""
    return "" if interval is None else f"{interval.low - 1:+.1%} to {interval.high - 1:+.1%}"


def gate_place(judged: RunGate | ChangeGate) -> str:
    """Return the target and its load. If the gate compares targets of one run, also name the baseline."""
    if isinstance(judged, ChangeGate):
        return place(judged.at)
    baseline = judged.group.row(judged.baseline)
    if judged.row is None or baseline is None:
        return title(judged.group)
    return f"{label(judged.row.target)} against {label(baseline.target)}, {title(judged.group)}"


def gate_reason(judged: RunGate | ChangeGate) -> str | None:
    """Return why a gate could not be judged, or ``None`` if it was judged."""
    if judged.obstacle is None:
        return None
    lost = sentence(judged.lost) if judged.lost else ""
    rounds = plural(judged.rounds, "round")
    if isinstance(judged, ChangeGate):
        return OBSTACLES[judged.obstacle].format(judged=judged, rounds=rounds, lost=f"in head {lost}", where="in each run")
    return OBSTACLES[judged.obstacle].format(judged=judged, rounds=rounds, lost=lost, where="with the figure of both targets")


def gate_sentence(judged: RunGate | ChangeGate) -> str:
    """Describe the outcome of a gate: the change with its interval, or why the gate could not be judged."""
    head = f"{judged.gate}: {gate_place(judged)}"
    if judged.passage is Passage.UNKNOWN:
        return f"NOT JUDGED {head}: {gate_reason(judged)}"
    outlook = ""
    if judged.passage is Passage.INCONCLUSIVE:
        where = " in each run" if isinstance(judged, ChangeGate) else ""
        enough = judged.rounds_enough
        outlook = (
            f"; about {enough} rounds{where} would decide" if enough else f"; more than {ROUNDS_PATIENCE} rounds{where} would be required"
        )
    return f"{judged.passage.upper()} {head}: {ratio_text(judged.ratio)}, interval {interval_text(judged.interval)}{outlook}"


def change_gate_sentences(found: Changes) -> Iterator[str]:
    """List the gates that didn't pass, then the number of gates that did."""
    yield from (gate_sentence(judged) for judged in found.gates if judged.passage is not Passage.PASSED)
    if passed := sum(judged.passage is Passage.PASSED for judged in found.gates):
        yield f"{passed} of {len(found.gates)} gates passed"
