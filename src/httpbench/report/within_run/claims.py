"""What a table shows, in sentences: which target is faster, by how much, and what the rounds cannot show.

Only what :mod:`httpbench.stats.paired` finds significant is claimed. Other differences are not printed as a number either: the reader
gets the width of the noise instead.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from httpbench.model import Noise, Run, RunStatus, Trial, VerdictKind
from httpbench.report.numbers import percentage
from httpbench.report.tables.rows import Group, Row
from httpbench.report.within_run.compared_rows import Compared, against, flaky, ranking, rounds_to_tell
from httpbench.report.words.reasons import sentence
from httpbench.stats.figures import CPU, P99, THROUGHPUT, WALL
from httpbench.stats.gates import lost_rounds
from httpbench.stats.interval import CONFIDENCE, LEFT_OUT, ROUNDS_MIN
from httpbench.stats.noise import floor, other_load
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison
from httpbench.stats.precision import widest

WIDE = 0.25
"""A half-width, relative to the ratio, from which both ends of an interval are printed: it is no longer symmetric."""

LOPSIDED = 0.1
"""Distance of a ratio from the middle of its interval, relative to the half-width, from which both ends are printed: rounds of one side
were disturbed."""

BLIND = 1.0
"""A half-width from which an interval includes both half and double: such rounds show nothing."""

BOUNDS = {
    VerdictKind.GENERATOR: "generator-bound",
    VerdictKind.BOTH: "bound by both",
    VerdictKind.BACKEND: "backend-bound",
    VerdictKind.DATABASE: "database-bound",
}
"""Verdicts with which a figure is a lower bound."""

LIMIT_KNOWN = (VerdictKind.TARGET, VerdictKind.SHARED)
"""Verdicts of ranked rows that require no word. With ``shared`` the cores were full; titles say that they are shared."""

NO_RANKS = f"No ranks: {ROUNDS_MIN} or more rounds required"

SUBJECTS = {P99.name: "p99", CPU.name: "CPU time per request", WALL.name: "time"}


def claims(run: Run, group: Group) -> list[str]:
    """Sentences on one table: against the run's baseline; between two rows; ranks of more."""
    lines = comparisons(run, group)
    return lines if len(group.rows) < 3 else [*lines, *_ranks(group), *(f"Not ranked {reason}" for reason in _unranked(group))]


def comparisons(run: Run, group: Group) -> list[str]:
    """A sentence for each row: against the run's baseline, or of two rows against the second."""
    baseline = run.baseline or (group.rows[1].target.id if len(group.rows) == 2 else None)
    compared = against(group, baseline) if baseline else []
    return [_sentence(each, len(compared), _noise(run, group)) for each in compared]


def unranked(group: Group) -> str | None:
    """Which rows with figures have no rank, and why, on one line; ``None``: none, or the table has no ranks."""
    reasons = list(_unranked(group)) if len(group.rows) > 2 else []
    return f"Not ranked {'; '.join(reasons)}" if reasons else None


def precision(run: Run, trials: Sequence[Trial]) -> list[str]:
    """Whether a run reached the precision that was requested."""
    asked = run.precision
    if asked is None or run.baseline is None or run.status is not RunStatus.FINISHED:
        return []
    width = widest(trials, run.baseline)
    if width is None:
        return [f"{percent(asked.half_width)} was not reached: too few valid rounds"]
    if width.half_width <= asked.half_width:
        return [f"{percent(width.half_width)} after {width.rounds} rounds, within the requested {percent(asked.half_width)}"]
    needed = width.rounds_for(asked.half_width)
    outlook = f"about {needed:,} would be enough" if needed else "more rounds than practical would be required"
    return [f"{percent(asked.half_width)} was not reached in {width.rounds} rounds ({percent(width.half_width)}): {outlook}"]


def no_difference(group: Group) -> str:
    """That no row is shown to be faster than another, and how many rounds would show it."""
    enough = rounds_to_tell(group)
    outlook = f"about {enough} would be enough" if enough else f"more than {ROUNDS_PATIENCE} would be required"
    return f"No ranks: no difference is significant after {group.rounds} rounds; {outlook}"


def label(row: Row) -> str:
    """The name of a target in a sentence."""
    return row.target.id if row.target.is_declared else row.target.framework


def bound(rows: Sequence[Row]) -> str:
    """What limited rows in place of the target, or together with it: ``generator-bound or bound by both``."""
    kinds = {row.summary.verdict.kind for row in rows}
    return " or ".join(words for kind, words in BOUNDS.items() if kind in kinds)


def times(comparison: Comparison) -> str:
    """``1.13 ± 0.02 times``, with the digits that the interval justifies; both ends of a wide one."""
    interval, ratio = comparison.interval, comparison.ratio
    if interval is None:
        return f"{ratio:.2f} times"
    half = (interval.high - interval.low) / 2
    if half > WIDE * ratio:
        return f"{_rough(ratio)} times ({_rough(interval.low)} to {_rough(interval.high)})"
    digits = 2 if half == 0 else min(max(-math.floor(math.log10(half)), 0 if ratio >= 10 else 2), 4)
    if comparison.rounds >= LEFT_OUT and abs((interval.low + interval.high) / 2 - ratio) > LOPSIDED * half:
        return f"{ratio:.{digits}f} times ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
    return f"{ratio:.{digits}f} ± {half:.{digits}f} times"


def _rough(ratio: float) -> str:
    """Two significant digits: ``1.6``, ``560``, ``1,200``."""
    return f"{float(f'{ratio:.2g}'):,g}"


def percent(half_width: float) -> str:
    """``± 1.8%``, ``± 25%``, ``± 0.04%``."""
    return f"± {percentage(half_width)}"


def _noise(run: Run, group: Group) -> Noise | None:
    """``None`` also where it was measured under another load."""
    workload = run.workloads.get(group.workload)
    if run.noise is None or workload is None or other_load(run.noise, group.load, workload) is not None:
        return None
    return run.noise


def _sentence(compared: Compared, family: int, noise: Noise | None) -> str:
    ours, theirs = label(compared.row), label(compared.baseline)
    missing = [name for name, row in ((ours, compared.row), (theirs, compared.baseline)) if not row.counts]
    if missing:
        return f"{ours} cannot be compared with {theirs}: {' or '.join(missing)} has no valid round"
    (first, found), *others = compared.figures.items()
    clauses = [headline(first, found, ours, theirs, family)]
    clauses += [_clause(name, other, family) for name, other in others if other is not None and other.interval is not None]
    clauses += _within_noise(compared, noise)
    clauses += [f"{label(row)} is {bound([row])}" for row in (compared.row, compared.baseline) if row.is_lower_bound]
    return "; ".join(clauses)


def headline(figure: str, comparison: Comparison | None, ours: str, theirs: str, family: int) -> str:
    if comparison is None:
        return f"{ours} and {theirs} cannot be compared: no round has the figure of both"
    if comparison.interval is None:
        rounds = "1 round is" if comparison.rounds == 1 else f"{comparison.rounds} rounds are"
        return f"{ours} and {theirs}: {rounds} too few for a claim; use {ROUNDS_MIN} or more"
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
        return f"{comparison.rounds} rounds vary too much for a claim ({percent(comparison.interval.half_width)})"
    by_itself = comparison.p is not None and comparison.p <= 1 - CONFIDENCE
    corrected = f" after correction for {family} comparisons" if by_itself else ""
    return f"no difference above the noise{corrected} ({percent(comparison.interval.half_width)})"


def _within_noise(compared: Compared, noise: Noise | None) -> Iterator[str]:
    """Differences that the rounds agree on, but that are no larger than those of identical servers on this machine."""
    for name, comparison in compared.figures.items():
        least = floor(noise, name, comparison.rounds) if noise and comparison and comparison.differs else None
        if least is not None and comparison is not None and abs(math.log(comparison.ratio)) <= math.log1p(least):
            subject = SUBJECTS.get(name, "throughput")
            yield f"the difference in {subject} is within this machine's A/A noise ({percent(least)})"


def _doubt(comparison: Comparison) -> str:
    if comparison.p_rank is None or comparison.p_rank <= 1 - CONFIDENCE:
        return ""
    return f" (not confirmed by a Wilcoxon test, p = {comparison.p_rank:.2f})"


def _ranks(group: Group) -> Iterator[str]:
    if group.load.rate_rps is not None:
        return
    if group.rounds < ROUNDS_MIN:
        yield NO_RANKS
    else:
        yield from _shared_ranks(group)


def _unranked(group: Group) -> Iterator[str]:
    """``(generator-bound): c/nginx``."""
    if group.load.rate_rps is not None:
        return
    if limited := [row for row in group.rows if row.is_lower_bound]:
        yield f"({bound(limited)}): {', '.join(map(label, limited))}"
    if partly := [label(row) for row in group.rows if row.counts_partly and row.summary.rounds_counting < ROUNDS_MIN]:
        yield f"(fewer than {ROUNDS_MIN} valid rounds): {', '.join(partly)}"
    for row in flaky(group) if group.rounds >= ROUNDS_MIN else []:
        lost = lost_rounds(row.trials)
        reason = sentence(lost) if lost else f"{row.summary.rounds_counting} of {group.rounds} rounds are valid"
        yield f"({reason}): {label(row)}"


def _shared_ranks(group: Group) -> Iterator[str]:
    places = ranking(group)
    if len(places) < 2:
        return
    if set(places.values()) == {1}:
        yield no_difference(group)
        return
    names = {row.target.id: label(row) for row in group.rows}
    shared = {place: [names[name] for name, own in places.items() if own == place] for place in sorted(set(places.values()))}
    listed = " · ".join(f"{place} {', '.join(members)}" for place, members in shared.items())
    yield f"Ranks (ties share a rank): {listed}"
    kinds = {row.target.id: row.summary.verdict.kind for row in group.rows}
    if group.client_work is not None:
        return  # a client that waits takes that time all the same
    if others := [f"{names[name]} ({kinds[name]})" for name in places if kinds[name] not in LIMIT_KNOWN]:
        yield f"Ranked, limit unknown: {', '.join(others)}"
