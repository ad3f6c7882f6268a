"""Gates within one run: each target against the baseline, round by round, so that what the machine did to both cancels out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from httpbench.model import Frozen, Gate, Run, RunStatus, Trial
from httpbench.report.tables.groups import groups
from httpbench.report.tables.notes import title
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.claims import label
from httpbench.report.words.reasons import sentence
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Passage, lost_rounds, passage
from httpbench.stats.interval import ROUNDS_MIN, ConfidenceInterval
from httpbench.stats.paired import Comparison, compare


class Gated(Frozen):
    """A gate at one target, or at a table whose baseline was not measured."""

    gate: Gate
    """The gate."""
    target: str | None
    """Id of the target. Null: none is judged, because the baseline was not measured."""
    place: str
    """Target, baseline, workload and load, in words."""
    passage: Passage
    """How it ended."""
    ratio: float | None = None
    """Of the target's figure to the baseline's. Null: unknown."""
    interval: ConfidenceInterval | None = None
    """95% interval of the ratio. Null: unknown."""
    reason: str | None = None
    """Why it could not be judged. Null: it was."""

    @property
    def sentence(self) -> str:
        if self.ratio is None or self.interval is None:
            return f"NOT JUDGED {self.gate}: {self.place}: {self.reason}"
        return f"{self.passage.upper()} {self.gate}: {self.place}: {self.change_text}, interval {self.interval_text}"

    @property
    def change_text(self) -> str:
        """``-4.2%``; empty if it is unknown."""
        return "" if self.ratio is None else f"{self.ratio - 1:+.1%}"

    @property
    def interval_text(self) -> str:
        """``-4.9% to -3.5%``; empty if it is unknown."""
        return "" if self.interval is None else f"{self.interval.low - 1:+.1%} to {self.interval.high - 1:+.1%}"


def gated(run: Run, trials: Sequence[Trial]) -> list[Gated]:
    """Every gate of a run at every row but the baseline's; none if the run was interrupted."""
    if not run.gates or run.status is RunStatus.INTERRUPTED:
        return []
    return [judged for group in groups(run, trials) for judged in _of_table(group, run.baseline, run.gates)]


def _of_table(group: Group, baseline: str | None, gates: Sequence[Gate]) -> Iterator[Gated]:
    theirs = next((row for row in group.rows if row.target.id == baseline), None)
    if theirs is None:
        reason = f"{baseline}, the baseline, was not measured"
        yield from (Gated(gate=gate, target=None, place=title(group), passage=Passage.UNKNOWN, reason=reason) for gate in gates)
        return
    for row in group.rows:
        if row is not theirs:
            yield from (_judged(gate, row, theirs, group) for gate in gates)


def _judged(gate: Gate, row: Row, theirs: Row, group: Group) -> Gated:
    place = f"{label(row)} against {label(theirs)}, {title(group)}"
    figure = BY_NAME[gate.figure]
    found = compare(figure.rounds(row.trials), figure.rounds(theirs.trials), figure.resolution)
    reason = _why_unknown(gate, row, group, found)
    if reason is not None or found is None:
        return Gated(gate=gate, target=row.target.id, place=place, passage=Passage.UNKNOWN, reason=reason)
    kind = passage(gate, found.interval)
    return Gated(gate=gate, target=row.target.id, place=place, passage=kind, ratio=found.ratio, interval=found.interval)


def _why_unknown(gate: Gate, row: Row, group: Group, found: Comparison | None) -> str | None:
    if gate.figure == "rps" and group.load.rate_rps is not None:
        return "`--rate` fixes throughput, so there is nothing to compare"
    if lost := lost_rounds(row.trials):
        return sentence(lost)
    if found is None or found.interval is None:
        return f"{found.rounds if found else 0} rounds have the figure of both; {ROUNDS_MIN} or more are required"
    return None
