"""What a table shows, in sentences: who is faster, by how much, and what these rounds cannot tell.

Nothing is claimed that :mod:`httpbench.stats.paired` does not bear out. A difference that is not claimed is not printed as a number
either: the reader gets the width of the noise instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from httpbench.model import Noise, Run, RunStatus, Trial, VerdictKind
from httpbench.report.printable import percentage
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.comparisons import Compared, against, ranking, rounds_to_tell
from httpbench.stats.figures import CPU, P99, THROUGHPUT, WALL
from httpbench.stats.interval import CONFIDENCE, ROUNDS_MIN
from httpbench.stats.noise import floor
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison
from httpbench.stats.precision import widest

WIDE = 0.25
"""A half-width from which, relative to the ratio, both ends of an interval are printed: they no longer lie alike on both sides."""

BLIND = 1.0
"""A half-width from which an interval holds the double as well as the half: such rounds say nothing."""

SUBJECTS = {P99.name: "p99", CPU.name: "CPU time per request", WALL.name: "time"}


def claims(run: Run, group: Group) -> list[str]:
    """Sentences on one table: against the run's baseline; between two rows; ranks of more."""
    baseline = run.baseline or (group.rows[1].target.id if len(group.rows) == 2 else None)
    compared = against(group, baseline) if baseline else []
    lines = [_sentence(each, len(compared), run.noise) for each in compared]
    return lines if len(group.rows) < 3 else [*lines, *_ranks(group)]


def precision(run: Run, trials: Sequence[Trial]) -> list[str]:
    """Whether a run that went on until it knew enough does know enough."""
    asked = run.precision
    if asked is None or run.baseline is None or run.status is not RunStatus.FINISHED:
        return []
    width = widest(trials, run.baseline)
    if width is None:
        return [f"{percent(asked.half_width)} was not reached: too few rounds count"]
    if width.half_width <= asked.half_width:
        return [f"{percent(width.half_width)} after {width.rounds} rounds, within the {percent(asked.half_width)} that was asked for"]
    needed = width.rounds_for(asked.half_width)
    outlook = f"about {needed:,} would do" if needed else "no number of rounds that anybody would wait for would do"
    return [f"{percent(asked.half_width)} was not reached in {width.rounds} rounds ({percent(width.half_width)}): {outlook}"]


def label(row: Row) -> str:
    """How a row is called in a sentence."""
    return row.target.id if row.target.is_declared else row.target.framework


def times(comparison: Comparison) -> str:
    """``1.13 ± 0.02 times``, with the digits that the interval justifies; both ends of a wide one."""
    interval, ratio = comparison.interval, comparison.ratio
    if interval is None:
        return f"{ratio:.2f} times"
    half = (interval.high - interval.low) / 2
    if half > WIDE * ratio:
        return f"{ratio:.2g} times ({interval.low:.2g} to {interval.high:.2g})"
    digits = 2 if half == 0 else min(max(-math.floor(math.log10(half)), 0 if ratio >= 10 else 2), 4)
    return f"{ratio:.{digits}f} ± {half:.{digits}f} times"


def percent(half_width: float) -> str:
    """``± 1.8 %``, ``± 25 %``, ``± 0.04 %``."""
    return f"± {percentage(half_width)}"


def _sentence(compared: Compared, family: int, noise: Noise | None) -> str:
    ours, theirs = label(compared.row), label(compared.baseline)
    missing = [name for name, row in ((ours, compared.row), (theirs, compared.baseline)) if not row.counts]
    if missing:
        return f"{ours} cannot be compared with {theirs}: no round of {' or '.join(missing)} counts"
    (first, headline), *others = compared.figures.items()
    clauses = [_headline(first, headline, ours, theirs, family)]
    clauses += [_clause(name, other, family) for name, other in others if other is not None and other.interval is not None]
    clauses += _within_noise(compared, noise)
    clauses += [f"the load generator was the limit of {label(row)}" for row in (compared.row, compared.baseline) if row.is_lower_bound]
    return "; ".join(clauses)


def _headline(figure: str, comparison: Comparison | None, ours: str, theirs: str, family: int) -> str:
    if comparison is None:
        return f"{ours} and {theirs} cannot be compared: no round of both has the figure"
    if comparison.interval is None:
        rounds = "1 round" if comparison.rounds == 1 else f"{comparison.rounds} rounds"
        return f"{ours} and {theirs}: {rounds} of both cannot tell; a claim takes at least {ROUNDS_MIN}"
    if not comparison.differs:
        subject = "" if figure == THROUGHPUT.name else f", {SUBJECTS[figure]}"
        return f"{ours} and {theirs}{subject}: {_tie(comparison, family)}"
    if figure == THROUGHPUT.name:
        return f"{ours} serves {times(comparison)} the requests of {theirs}{_doubt(comparison)}"
    return f"the {SUBJECTS[figure]} of {ours} is {times(comparison)} that of {theirs}{_doubt(comparison)}"


def _clause(figure: str, comparison: Comparison, family: int) -> str:
    if comparison.differs:
        return f"{SUBJECTS[figure]} is {times(comparison)}"
    return f"{SUBJECTS[figure]}: {_tie(comparison, family)}"


def _tie(comparison: Comparison, family: int) -> str:
    assert comparison.interval is not None
    if comparison.interval.half_width >= BLIND:
        return f"{comparison.rounds} rounds vary too much to tell ({percent(comparison.interval.half_width)})"
    by_itself = comparison.p is not None and comparison.p <= 1 - CONFIDENCE
    among = f" of {family} comparisons" if by_itself else ""
    return f"no difference above the noise{among} ({percent(comparison.interval.half_width)})"


def _within_noise(compared: Compared, noise: Noise | None) -> Iterator[str]:
    """What these rounds agree on, and yet is no more than what equals differ by on this machine."""
    for name, comparison in compared.figures.items():
        least = floor(noise, name, comparison.rounds) if noise and comparison and comparison.differs else None
        if least is not None and comparison is not None and abs(math.log(comparison.ratio)) <= math.log1p(least):
            subject = SUBJECTS.get(name, "the number of requests")
            yield f"the difference in {subject} is one that equals have shown here ({percent(least)})"


def _doubt(comparison: Comparison) -> str:
    if comparison.p_rank is None or comparison.p_rank <= 1 - CONFIDENCE:
        return ""
    return f" (by their ranks alone the rounds are less sure: p = {comparison.p_rank:.2f})"


def _ranks(group: Group) -> Iterator[str]:
    if group.load.rate_rps is not None:
        return
    if group.rounds < ROUNDS_MIN:
        yield f"No ranks: telling rows apart takes at least {ROUNDS_MIN} rounds"
    else:
        yield from _shared_ranks(group)
    if limited := [label(row) for row in group.rows if row.is_lower_bound]:
        yield f"Not ranked, as the load generator was the limit: {', '.join(limited)}"
    if partly := [label(row) for row in group.rows if row.counts_partly and row.summary.rounds_counting < ROUNDS_MIN]:
        yield f"Not ranked, as fewer than {ROUNDS_MIN} rounds count: {', '.join(partly)}"


def _shared_ranks(group: Group) -> Iterator[str]:
    places = ranking(group)
    if len(places) < 2:
        return
    if set(places.values()) == {1}:
        enough = rounds_to_tell(group)
        remedy = f"; {enough} that vary as these did would" if enough else f", nor would {ROUNDS_PATIENCE} that vary as these did"
        yield f"No ranks: {group.rounds} rounds cannot tell any two of these rows apart{remedy}"
        return
    names = {row.target.id: label(row) for row in group.rows}
    shared = {place: [names[name] for name, own in places.items() if own == place] for place in sorted(set(places.values()))}
    told = " · ".join(f"{place} {', '.join(members)}" for place, members in shared.items())
    yield f"Ranks, shared by rows that these rounds cannot tell apart: {told}"
    kinds = {row.target.id: row.summary.verdict.kind for row in group.rows}
    if group.client_work is not None:
        return  # a client that waits takes that time all the same
    if others := [f"{names[name]} ({kinds[name]})" for name in places if kinds[name] is not VerdictKind.TARGET]:
        yield f"Ranked, although they are not known to have been the limit: {', '.join(others)}"
