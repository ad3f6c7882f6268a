"""Gates within one run: each target against the baseline, round by round, so that what the machine did to both cancels out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from httpbench.model import Run, Trial
from httpbench.report.tables.groups import groups
from httpbench.report.tables.notes import title
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.claims import label
from httpbench.stats.figures import BY_NAME
from httpbench.stats.gates import Gate, Passage, lost_rounds, passage
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.paired import compare


@dataclass(frozen=True, slots=True)
class Gated:
    """A gate at one row."""

    passage: Passage
    sentence: str


def gated(run: Run, trials: Sequence[Trial], gates: Sequence[Gate]) -> list[Gated]:
    """Every gate at every row but the baseline's. ``run`` must have a baseline."""
    return [judged for group in groups(run, trials) for judged in _of_table(group, run.baseline, gates)]


def _of_table(group: Group, baseline: str | None, gates: Sequence[Gate]) -> Iterator[Gated]:
    theirs = next((row for row in group.rows if row.target.id == baseline), None)
    if theirs is None:
        reason = f"{baseline}, the baseline, was not measured"
        yield from (Gated(Passage.UNKNOWN, f"NOT JUDGED {gate}: {title(group)}: {reason}") for gate in gates)
        return
    for row in group.rows:
        if row is not theirs:
            yield from (_judged(gate, row, theirs, group) for gate in gates)


def _judged(gate: Gate, row: Row, theirs: Row, group: Group) -> Gated:
    figure = BY_NAME[gate.figure]
    place = f"{gate}: {label(row)} against {label(theirs)}, {title(group)}"
    if gate.figure == "rps" and group.load.rate_rps is not None:
        return Gated(Passage.UNKNOWN, f"NOT JUDGED {place}: `--rate` fixes throughput, so there is nothing to compare")
    if lost := lost_rounds(row.trials):
        return Gated(Passage.UNKNOWN, f"NOT JUDGED {place}: {lost}")
    found = compare(figure.rounds(row.trials), figure.rounds(theirs.trials), figure.resolution)
    if found is None or found.interval is None:
        rounds = found.rounds if found else 0
        return Gated(Passage.UNKNOWN, f"NOT JUDGED {place}: {rounds} rounds have the figure of both; {ROUNDS_MIN} or more are required")
    kind = passage(gate, found.interval)
    low, high = found.interval.low - 1, found.interval.high - 1
    return Gated(kind, f"{kind.upper()} {place}: {found.ratio - 1:+.1%}, interval {low:+.1%} to {high:+.1%}")
