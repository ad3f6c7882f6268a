"""The claims of a table: which target is faster, by how much, and what the rounds can't show.

A claim requires that :mod:`httpbench.stats.paired` finds the difference significant. Otherwise, the sentence gives the width of the noise
instead of the difference.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from httpbench.analysis.compared import Compared, against, flaky, ranking, rounds_to_tell
from httpbench.analysis.rows import Group, Row
from httpbench.model import Noise, Run, VerdictKind
from httpbench.report.words.numbers import plural, plus_minus
from httpbench.report.words.reasons import sentence
from httpbench.report.words.targets import label
from httpbench.stats.figures import CPU, P99, THROUGHPUT, WALL
from httpbench.stats.gates import lost_rounds
from httpbench.stats.interval import CONFIDENCE, LEFT_OUT, ROUNDS_MIN
from httpbench.stats.noise import floor, other_load
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison

WIDE = 0.25
"""Relative half-width beyond which both ends of an interval are printed, because the interval is no longer symmetric."""

LOPSIDED = 0.1
"""Distance of a ratio from the middle of its interval, relative to the half-width, beyond which both ends are printed."""

BLIND = 1.0
"""Half-width from which an interval reaches from half to double, so that the rounds show nothing."""

BOUNDS = {
    VerdictKind.GENERATOR: "generator-bound",
    VerdictKind.BOTH: "bound by both",
    VerdictKind.BACKEND: "backend-bound",
    VerdictKind.DATABASE: "database-bound",
}
"""Verdicts that make a result a lower bound."""

LIMIT_KNOWN = (VerdictKind.TARGET, VerdictKind.SHARED)
"""Verdicts that need no note in a ranking. With ``shared``, the cores were full, and the title says that they are shared."""

NO_RANKS = f"No ranks: {ROUNDS_MIN} or more rounds required"

SUBJECTS = {P99.name: "p99", CPU.name: "CPU time per request", WALL.name: "time"}


def claims(run: Run, group: Group) -> list[str]:
    """Return all claims of one table: comparisons with the baseline or of two rows, then ranks."""
    lines = comparisons(run, group)
    return lines if len(group.rows) < 3 else [*lines, *_ranks(group), *(f"Not ranked {reason}" for reason in _unranked(group))]


def comparisons(run: Run, group: Group) -> list[str]:
    """Compare each row with the baseline. If there is no baseline and there are two rows, compare the first with the second."""
    baseline = run.baseline or (group.rows[1].target.id if len(group.rows) == 2 else None)
    compared = against(group, baseline) if baseline else []
    return [_sentence(each, len(compared), _noise(run, group)) for each in compared]


def unranked(group: Group) -> str | None:
    """Say which rows with results have no rank, and why; ``None`` if there are none."""
    reasons = list(_unranked(group)) if len(group.rows) > 2 else []
    return f"Not ranked {'; '.join(reasons)}" if reasons else None


def no_difference(group: Group) -> str:
    """Say that no difference is significant, and how many rounds would be enough."""
    enough = rounds_to_tell(group)
    outlook = f"about {enough} would be enough" if enough else f"more than {ROUNDS_PATIENCE} would be required"
    return f"No ranks: no difference is significant after {group.rounds} rounds; {outlook}"


def bound(rows: Sequence[Row]) -> str:
    """Describe what limited these rows besides the target: ``generator-bound or bound by both``."""
    kinds = {row.summary.verdict.kind for row in rows}
    return " or ".join(words for kind, words in BOUNDS.items() if kind in kinds)


def times(comparison: Comparison) -> str:
    """Format a ratio with the digits that its interval justifies: ``1.13 ± 0.02 times``. A wide interval is shown with both ends."""
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
    """Format with two significant digits: ``1.6``, ``560``, ``1,200``."""
    return f"{float(f'{ratio:.2g}'):,g}"


def _noise(run: Run, group: Group) -> Noise | None:
    """Return the noise of this machine under this table's load, or ``None`` if it is unknown."""
    workload = run.workloads.get(group.workload)
    if run.noise is None or workload is None or other_load(run.noise, group.load, workload) is not None:
        return None
    return run.noise


def _sentence(compared: Compared, family: int, noise: Noise | None) -> str:
    ours, theirs = label(compared.row.target), label(compared.baseline.target)
    missing = [name for name, row in ((ours, compared.row), (theirs, compared.baseline)) if not row.counts]
    if missing:
        return f"{ours} cannot be compared with {theirs}: {' or '.join(missing)} has no valid round"
    (first, found), *others = compared.figures.items()
    clauses = [headline(first, found, ours, theirs, family)]
    clauses += [_clause(name, other, family) for name, other in others if other is not None and other.interval is not None]
    clauses += _within_noise(compared, noise)
    clauses += [f"{label(row.target)} is {bound([row])}" for row in (compared.row, compared.baseline) if row.is_lower_bound]
    return "; ".join(clauses)


def headline(figure: str, comparison: Comparison | None, ours: str, theirs: str, family: int) -> str:
    """Compare two targets by one metric. ``family`` is the number of comparisons that were corrected together."""
    if comparison is None:
        return f"{ours} and {theirs} cannot be compared: no round has this result for both"
    if comparison.interval is None:
        verb = "is" if comparison.rounds == 1 else "are"
        return f"{ours} and {theirs}: {plural(comparison.rounds, 'round')} {verb} too few for a claim; use {ROUNDS_MIN} or more"
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
        return f"{comparison.rounds} rounds vary too much for a claim ({plus_minus(comparison.interval.half_width)})"
    by_itself = comparison.p is not None and comparison.p <= 1 - CONFIDENCE
    corrected = f" after correction for {family} comparisons" if by_itself else ""
    return f"no difference above the noise{corrected} ({plus_minus(comparison.interval.half_width)})"


def _within_noise(compared: Compared, noise: Noise | None) -> Iterator[str]:
    """Report significant differences that are no larger than those between identical servers on this machine."""
    for name, comparison in compared.figures.items():
        least = floor(noise, name, comparison.rounds) if noise and comparison and comparison.differs else None
        if least is not None and comparison is not None and abs(math.log(comparison.ratio)) <= math.log1p(least):
            subject = SUBJECTS.get(name, "throughput")
            yield f"the difference in {subject} is within this machine's A/A noise ({plus_minus(least)})"


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
    """List the rows without a rank by reason: ``(generator-bound): c/nginx``."""
    if group.load.rate_rps is not None:
        return
    if limited := [row for row in group.rows if row.is_lower_bound]:
        yield f"({bound(limited)}): {', '.join(label(row.target) for row in limited)}"
    if partly := [label(row.target) for row in group.rows if row.counts_partly and row.summary.rounds_counting < ROUNDS_MIN]:
        yield f"(fewer than {ROUNDS_MIN} valid rounds): {', '.join(partly)}"
    for row in flaky(group) if group.rounds >= ROUNDS_MIN else []:
        lost = lost_rounds(row.trials)
        reason = sentence(lost) if lost else f"{row.summary.rounds_counting} of {group.rounds} rounds are valid"
        yield f"({reason}): {label(row.target)}"


def _shared_ranks(group: Group) -> Iterator[str]:
    places = ranking(group)
    if len(places) < 2:
        return
    if set(places.values()) == {1}:
        yield no_difference(group)
        return
    names = {row.target.id: label(row.target) for row in group.rows}
    shared = {place: [names[name] for name, own in places.items() if own == place] for place in sorted(set(places.values()))}
    listed = " · ".join(f"{place} {', '.join(members)}" for place, members in shared.items())
    yield f"Ranks (ties share a rank): {listed}"
    kinds = {row.target.id: row.summary.verdict.kind for row in group.rows}
    if group.client_work is not None:
        return  # waiting is part of a client's time
    if others := [f"{names[name]} ({kinds[name]})" for name in places if kinds[name] not in LIMIT_KNOWN]:
        yield f"Ranked, limit unknown: {', '.join(others)}"
