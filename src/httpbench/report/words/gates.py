"""The outcome of each gate in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from httpbench.analysis.beyond import Cause
from httpbench.analysis.changes import Cell, ChangeGate, Changes
from httpbench.analysis.gates import Obstacle, RunGate
from httpbench.analysis.profiles import Grown, grown_in, of_cell
from httpbench.model import Run
from httpbench.report.words.changes import lost_text
from httpbench.report.words.loads import place, title
from httpbench.report.words.numbers import plural
from httpbench.report.words.profiles import changes_between, what_grew
from httpbench.report.words.reasons import sentence
from httpbench.report.words.targets import label
from httpbench.stats.gates import Passage
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval
from httpbench.stats.paired import ROUNDS_PATIENCE
from httpbench.stats.summary import Summary

OBSTACLES = {
    Obstacle.NO_BASELINE: "the baseline {judged.baseline} was not measured",
    Obstacle.NO_TARGET: "head lacks this target under this load",
    Obstacle.FIXED_BY_RATE: "`--rate` fixes throughput, so there is nothing to compare",
    Obstacle.LOST_ROUNDS: "{lost}",
    Obstacle.NO_ROUNDS: "a run has no valid round with this figure",
    Obstacle.TOO_FEW_ROUNDS: f"{{rounds}}, but at least {ROUNDS_MIN} {{where}} are required",
}

CAUSES = {
    Cause.BOUND: "a result is only a bound, because something other than the target was full",
    Cause.SHARED_CORES: "the load generator used the target's cores, so the difference may be larger than measured",
    Cause.HIDDEN_STALLS: "a closed loop hides stalls, which `--rate` would show",
    Cause.UNREPORTED_STALLS: "a closed loop hides stalls, which this load generator does not report",
}
"""Why more rounds can't decide a gate."""


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
    rounds = plural(judged.rounds, "round")
    if isinstance(judged, ChangeGate):
        lost = lost_text(judged.at) if isinstance(judged.at, Cell) else None
        return OBSTACLES[judged.obstacle].format(judged=judged, rounds=rounds, lost=lost, where="in each run")
    lost = sentence(judged.lost) if judged.lost else ""
    return OBSTACLES[judged.obstacle].format(judged=judged, rounds=rounds, lost=lost, where="with the figure of both targets")


def gate_causes(judged: RunGate | ChangeGate) -> str | None:
    """Return why more rounds can't decide an inconclusive gate, or ``None`` if they can."""
    return " and ".join(CAUSES[cause] for cause in judged.causes) or None


def gate_sentence(judged: RunGate | ChangeGate) -> str:
    """Describe the outcome of a gate: the change with its interval, or why the gate could not be judged."""
    head = f"{judged.gate}: {gate_place(judged)}"
    if judged.passage is Passage.UNKNOWN:
        return f"NOT JUDGED {head}: {gate_reason(judged)}"
    outlook = f"; {_outlook(judged)}" if judged.passage is Passage.INCONCLUSIVE else ""
    return f"{judged.passage.upper()} {head}: {ratio_text(judged.ratio)}, interval {interval_text(judged.interval)}{outlook}"


def run_gate_sentences(run: Run, judged: Sequence[RunGate]) -> Iterator[str]:
    """Describe the outcome of each gate of a run. What grew in a profiled target stands below the first gate that it breached."""
    yield from _sentences(judged, grown_in(run))


def other_growth_sentences(found: Changes) -> Iterator[str]:
    """Say what grew and shrank in the profiled targets that no sentence of :func:`change_gate_sentences` covers."""
    left = list(found.grown)
    for judged in found.gates:
        if (covered := _growth(judged, left)) is not None:
            left.remove(covered)
    yield from changes_between(left)


def with_growth(judged: Iterable[RunGate | ChangeGate], grown: Sequence[Grown]) -> Iterator[tuple[RunGate | ChangeGate, str | None]]:
    """Yield each gate with what grew in its target, if it is the first gate that this profiled target breached."""
    left = list(grown)
    for each in judged:
        found = _growth(each, left)
        if found is not None:
            left.remove(found)
        yield each, what_grew(found) if found else None


def _sentences(judged: Iterable[RunGate | ChangeGate], grown: Sequence[Grown]) -> Iterator[str]:
    for each, growth in with_growth(judged, grown):
        yield gate_sentence(each)
        if growth:
            yield growth


def _growth(judged: RunGate | ChangeGate, grown: Sequence[Grown]) -> Grown | None:
    """Return the profiled change of the cell of a gate, if it was breached."""
    if judged.passage is not Passage.BREACHED:
        return None
    if isinstance(judged, ChangeGate):
        cell: Cell | Summary = judged.at
    elif judged.row is not None:
        cell = judged.row.summary
    else:
        return None
    return of_cell(grown, cell.target, cell.scaling, cell.workload, cell.load)


def _outlook(judged: RunGate | ChangeGate) -> str:
    """Say what would decide an inconclusive gate."""
    if causes := gate_causes(judged):
        return causes
    where = " in each run" if isinstance(judged, ChangeGate) else ""
    if judged.rounds_enough:
        return f"about {judged.rounds_enough} rounds{where} would decide"
    return f"more than {ROUNDS_PATIENCE} rounds{where} would be required"


def change_gate_sentences(found: Changes) -> Iterator[str]:
    """List the gates that didn't pass, then the number of gates that did."""
    yield from _sentences([judged for judged in found.gates if judged.passage is not Passage.PASSED], found.grown)
    if passed := sum(judged.passage is Passage.PASSED for judged in found.gates):
        yield f"{passed} of {len(found.gates)} gates passed"
