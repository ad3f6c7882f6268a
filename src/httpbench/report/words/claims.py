"""The claims of a table: which target is faster, by how much, and what the rounds can't show. The main claim is the table's answer.

A claim requires a significant difference (:mod:`httpbench.analysis.compared`). Otherwise, the sentence gives the interval that contains the
ratio, because no measurement can show that two targets are equal.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from httpbench.analysis.beyond import Cause
from httpbench.analysis.compared import (
    Compared,
    against,
    ahead,
    all_bounds,
    flaky,
    is_undecided,
    lost_too_many,
    ranking,
    rounds_to_tell,
    unexplained,
)
from httpbench.analysis.rows import Group, Row
from httpbench.model import Noise, Run, Stalls, Table, VerdictKind
from httpbench.report.words.numbers import plural, plus_minus, rank_text, three_digits
from httpbench.report.words.reasons import sentence
from httpbench.report.words.targets import label
from httpbench.stats.figures import CPU, FIRST, LIMITED, MEMORY_READY, P99, READY, THROUGHPUT, TO_STEADY, WALL
from httpbench.stats.interval import CONFIDENCE, LEFT_OUT, ROUNDS_MIN, ConfidenceInterval
from httpbench.stats.noise import floor, other_load
from httpbench.stats.paired import ROUNDS_PATIENCE, Comparison
from httpbench.stats.ranks import RankRange
from httpbench.stats.stalls import hidden_stalls
from httpbench.text import listed

WIDE = 0.25
"""Maximum relative half-width at which an interval is printed with ``±``. Wider intervals aren't symmetric, so both ends are printed."""

LOPSIDED = 0.1
"""Maximum distance between a ratio and the middle of its interval, relative to the half-width, at which ``±`` is used."""

BOUND_BY = {
    VerdictKind.GENERATOR: "generator-bound",
    VerdictKind.BOTH: "bound by both",
    VerdictKind.BACKEND: "backend-bound",
    VerdictKind.DATABASE: "database-bound",
}
"""Verdicts that make a result a lower bound, each with the text that names it."""

LIMIT_KNOWN = (VerdictKind.TARGET, VerdictKind.SHARED)
"""Verdicts that need no note in a ranking. ``shared`` needs none because the table's title already says that the cores are shared."""

SHARED = "shared cores: the ratio is unknown"

NO_RANKS = f"No ranks: {ROUNDS_MIN} or more rounds required"

OWN_RATES = "Not ranked: each target has its own rate"

HELD_SHARE = 0.95
"""Minimum share of the rate of an overload that a target must serve to count as not overloaded. With Poisson arrivals, fewer requests than
expected may be due."""

TIES_NAMED = 3
"""Maximum number of targets with rank 1 that are listed by name. If there are more, only their number is given."""

UNEXPLAINED = "it was faster than its backend alone, which does not count its requests, so it may have answered from memory"

SUBJECTS = {
    P99.name: "p99",
    CPU.name: "CPU time per request",
    WALL.name: "time",
    READY.name: "start-up time",
    FIRST.name: "time of the first request",
    TO_STEADY.name: "time to steady throughput",
    MEMORY_READY.name: "memory when ready",
}


def claims(run: Run, group: Group) -> list[str]:
    """Return all claims of one table: comparisons with the baseline or between two rows, then ranks."""
    lines = comparisons(run, group)
    return lines if len(group.rows) < 3 else [*lines, *_ranks(group), *(f"Not ranked {reason}" for reason in _unranked(group))]


def comparisons(run: Run, group: Group) -> list[str]:
    """Compare each row with the baseline. If there is no baseline and there are two rows, compare the first with the second."""
    baseline = run.baseline or (group.rows[1].target.id if len(group.rows) == 2 else None)
    return [_sentence(each, group, _noise(run, group)) for each in against(group, baseline)]


def unranked(group: Group) -> str | None:
    """Say which rows with results have no rank, and why. Return ``None`` if there are no such rows."""
    reasons = list(_unranked(group)) if len(group.rows) > 2 else []
    return f"Not ranked {'; '.join(reasons)}" if reasons else None


def _no_difference(group: Group) -> str:
    """Say that no difference is significant, and how many rounds would be enough to find one."""
    if all_bounds(group):
        return "No ranks: every result is only a lower bound"
    enough = rounds_to_tell(group)
    outlook = f"about {enough} would be enough" if enough else f"more than {ROUNDS_PATIENCE} would be required"
    return f"No ranks: no difference is significant after {group.rounds} rounds; {outlook}"


def times(comparison: Comparison) -> str:
    """Format a ratio with the digits that its interval justifies: ``1.13 ± 0.02 times``.

    If the interval is wide or asymmetric, the text contains both of its ends instead of ``±``.
    """
    interval, ratio = comparison.interval, comparison.ratio
    if interval is None:
        return f"{ratio:.2f} times"
    half = (interval.high - interval.low) / 2
    if half > WIDE * ratio:
        return f"{_rough(ratio)} times ({_rough(interval.low)} to {_rough(interval.high)})"
    digits = 2 if half == 0 or not math.isfinite(half) else min(max(-math.floor(math.log10(half)), 0 if ratio >= 10 else 2), 4)
    if comparison.rounds >= LEFT_OUT and abs((interval.low + interval.high) / 2 - ratio) > LOPSIDED * half:
        return f"{ratio:.{digits}f} times ({interval.low:.{digits}f} to {interval.high:.{digits}f})"
    return f"{ratio:.{digits}f} ± {half:.{digits}f} times"


def span(interval: ConfidenceInterval) -> str:
    """Format the interval of a ratio: ``0.967 to 1.004 times``."""
    half = (interval.high - interval.low) / 2
    if half > WIDE * interval.low:
        return f"{_rough(interval.low)} to {_rough(interval.high)} times"
    digits = 2 if half == 0 or not math.isfinite(half) else min(max(1 - math.floor(math.log10(half)), 2), 4)
    return f"{interval.low:.{digits}f} to {interval.high:.{digits}f} times"


def _rough(ratio: float) -> str:
    """Format a ratio with two significant digits: ``1.6``, ``560``, ``1,200``."""
    return f"{float(f'{ratio:.2g}'):,g}"


def _noise(run: Run, group: Group) -> Noise | None:
    """Return the noise of this machine under this table's load, or ``None`` if it is unknown."""
    workload = run.workloads.get(group.workload)
    if run.noise is None or workload is None or other_load(run.noise, group.load, workload) is not None:
        return None
    return run.noise


def _sentence(compared: Compared, group: Group, noise: Noise | None) -> str:
    first, *others = compared.figures
    clauses = [headline(compared, first, group)]
    clauses += [
        _clause(compared, name, other, group)
        for name in others
        if (other := compared.figures[name]) is not None and other.interval is not None
    ]
    clauses += _within_noise(compared, noise)
    clauses += [
        f"{label(row.target)} is {BOUND_BY[row.summary.verdict.kind]}" for row in (compared.row, compared.baseline) if row.is_lower_bound
    ]
    return "; ".join(clauses)


def headline(compared: Compared, figure: str, group: Group) -> str:
    """Compare two rows by one metric, or say why they aren't compared."""
    ours, theirs, comparison = label(compared.row.target), label(compared.baseline.target), compared.figures[figure]
    if obstacle := _obstacle(compared, comparison, group):
        return f"{ours} is not compared with {theirs}: {obstacle}"
    assert comparison is not None
    is_throughput, subject = figure == THROUGHPUT.name, SUBJECTS.get(figure, "")
    if not compared.holds(figure):
        by = "" if is_throughput else f" by {subject}"
        return f"{ours} is not distinguishable from {theirs}{by}{_known(comparison, group)}"
    if group.cores_shared:
        more, higher = ("more", "higher") if comparison.ratio > 1 else ("fewer", "lower")
        verb = f"serves {more} requests" if is_throughput else f"has a {higher} {subject}"
        return f"{ours} {verb} than {theirs} ({SHARED}){_doubt(comparison)}"
    if is_throughput:
        return f"{ours} serves {_limit(compared, figure)}{times(comparison)} the requests of {theirs}{_doubt(comparison)}"
    return f"the {subject} of {ours} is {_limit(compared, figure)}{times(comparison)} that of {theirs}{_doubt(comparison)}"


def _obstacle(compared: Compared, comparison: Comparison | None, group: Group) -> str | None:
    """Return why two rows aren't compared, or ``None`` if they are."""
    for row in (compared.row, compared.baseline):
        name = label(row.target)
        if not row.counts:
            return f"{name} has no valid round"
        if lost := lost_too_many(row.trials):
            return f"{name} lost rounds ({sentence(lost)})"
    if compared.row in unexplained(group):
        return UNEXPLAINED
    if comparison is None:
        return "no round has this result for both"
    if comparison.interval is None:
        verb = "is" if comparison.rounds == 1 else "are"
        return f"{plural(comparison.rounds, 'common round')} {verb} too few; use {ROUNDS_MIN} or more"
    return None


def _limit(compared: Compared, figure: str) -> str:
    """Return ``at least`` or ``at most`` for a ratio in which one value is only a bound, else an empty string."""
    if Cause.BOUND in compared.beyond(figure).higher:
        return "at least "
    return "at most " if Cause.BOUND in compared.beyond(figure).lower else ""


def _known(comparison: Comparison, group: Group) -> str:
    """Return what is known about a ratio that supports no claim."""
    if group.cores_shared:
        return f" ({SHARED})"
    if comparison.differs:  # there is no claim, because the value of the row that looks slower is only a bound
        return f": {times(comparison)} as measured"
    return unproven(comparison)


def unproven(comparison: Comparison) -> str:
    """Return the end of a sentence about a ratio that supports no claim: a colon, followed by the interval.

    The interval isn't corrected for the number of pairs, so it can exclude 1. If the uncorrected difference is significant, the text
    mentions the correction.
    """
    assert comparison.interval is not None
    by_itself = comparison.p is not None and comparison.p <= 1 - CONFIDENCE
    return f"{' after correction for all pairs' if by_itself else ''}: {span(comparison.interval)}"


def stood_still(stalls: Stalls) -> str:
    """Describe stalls that a p99 hides: ``stalled 5 times in a round, longest 104 ms``."""
    return f"stalled {plural(stalls.count, 'time')} in a round, longest {three_digits(stalls.longest_us / 1000)} ms"


def _clause(compared: Compared, figure: str, comparison: Comparison, group: Group) -> str:
    if figure == P99.name and compared.stalling and (stalls := hidden_stalls(compared.stalling.trials)):
        return f"p99 is not compared: {label(compared.stalling.target)} {stood_still(stalls)}, which a closed loop hides"
    beyond = compared.beyond(figure)
    if Cause.UNREPORTED_STALLS in (*beyond.lower, *beyond.higher):
        return f"{SUBJECTS[figure]} is not compared: {group.load_generator} does not report stalls, which a closed loop hides"
    if not compared.holds(figure):
        return f"{SUBJECTS[figure]} is not distinguishable{_known(comparison, group)}"
    if group.cores_shared and figure in LIMITED:
        return f"{SUBJECTS[figure]} is {'higher' if comparison.ratio > 1 else 'lower'}"
    return f"{SUBJECTS[figure]} is {_limit(compared, figure)}{times(comparison)}"


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


def no_ranks(group: Group, places: Mapping[str, RankRange]) -> str | None:
    """Say why the rounds allow no ranks, or return ``None`` if they allow ranks. ``places`` contains the ranks of the group."""
    if group.rounds < ROUNDS_MIN:
        return NO_RANKS
    return _no_difference(group) if len(places) > 1 and is_undecided(places) else None


def _unranked(group: Group) -> Iterator[str]:
    """List the rows without a rank by reason: ``(2 of 5 rounds failed or are invalid): c/nginx``."""
    if group.load.rate_rps is not None and not group.load.is_of_startup:
        return
    partly = [row for row in group.rows if row.counts_partly and row.summary.rounds_counting < ROUNDS_MIN]
    if partly:
        yield f"(fewer than {ROUNDS_MIN} valid rounds): {', '.join(label(row.target) for row in partly)}"
    if group.rounds < ROUNDS_MIN:
        return
    for row in group.rows:
        if row.counts and row not in partly and (lost := lost_too_many(row.trials)):
            yield f"({sentence(lost)}): {label(row.target)}"
    yield from (f"({UNEXPLAINED}): {label(row.target)}" for row in unexplained(group))
    for row in flaky(group):
        yield f"({row.summary.rounds_counting} of {plural(group.rounds, 'round')} valid): {label(row.target)}"


def _ranks(group: Group) -> Iterator[str]:
    if group.load.rate_rps is not None and not group.load.is_of_startup:
        return
    places = ranking(group)
    if reason := no_ranks(group, places):
        yield reason
        return
    if len(places) < 2:
        return
    rows = {row.target.id: row for row in group.rows}
    yield f"Ranks: {' · '.join(f'{label(rows[name].target)} {rank_text(rank)}' for name, rank in places.items())}"
    if group.client_work is not None or group.load.is_of_startup:
        return  # the time of a client or a start includes waiting, so an unknown limit needs no note
    kinds = {name: rows[name].summary.verdict.kind for name in places if not rows[name].is_lower_bound}
    if others := [f"{label(rows[name].target)} ({kind})" for name, kind in kinds.items() if kind not in LIMIT_KNOWN]:
        yield f"Ranked, limit unknown: {', '.join(others)}"


# --- the answer -----------------------------------------------------------------------------------------------------------------


def answer(run: Run, group: Group) -> list[str]:
    """Return the answer of one table: one line, or one line per target for clients, for starts and for tables with a baseline."""
    if group.load.fault is not None:
        return list(_fewest_failed(group))
    if group.load.share_of_peak is not None:
        return list(_own_rates(group))
    if names_fastest(run, group):
        return list(_fastest(group))
    if _has_pairs(run, group):
        return comparisons(run, group)
    return list(_ranked(group) if group.load.rate_rps is None else _best(group, run.baseline))


def _own_rates(group: Group) -> Iterator[str]:
    """Say that the targets of a table have their own rates, and which targets an overload didn't overload."""
    yield OWN_RATES
    if group.load.is_overload and (held := [label(row.target) for row in group.rows if row.counts and _holds_rate(row)]):
        yield f"Not overloaded, so the peak was higher than the closed loop showed: {', '.join(held)}"


def _holds_rate(row: Row) -> bool:
    rate_rps, served = row.summary.load.rate_rps, row.summary.throughput_rps
    return rate_rps is not None and served is not None and served.median >= HELD_SHARE * rate_rps


def names_fastest(run: Run, group: Group) -> bool:
    """Return whether the answer of a table names the fastest target in its first line, and compares each other target in a further line."""
    return group.client_work is not None or (group.load.is_of_startup and not _has_pairs(run, group))


def _has_pairs(run: Run, group: Group) -> bool:
    """Return whether the answer of a table compares all rows with one of them."""
    return len(group.rows) == 2 or (run.baseline is not None and run.table is not Table.TCP_PROXIES)


def _ranked(group: Group) -> Iterator[str]:
    places = ranking(group)
    if len(group.rows) > 1 and (reason := no_ranks(group, places)):
        yield reason
    elif len(places) > 1:
        ranked = [row for row in group.rows if row.target.id in places]
        yield _lead(group, [row for row in ranked if places[row.target.id].best == 1], ranked)


def _best(group: Group, baseline: str | None) -> Iterator[str]:
    """Name the target with the lowest p99 at a rate. The baseline is excluded."""
    known = [row for row in group.rows if row.counts and not row.is_lower_bound and row.target.id != baseline]
    if len(known) > 1:
        known.sort(key=lambda row: row.headline.median if row.headline else math.inf)
        leader, *others = known
        beaten = [each.baseline for each in ahead(group, leader, others) if any(map(each.holds, each.figures))]
        yield _lead(group, [row for row in known if row not in beaten], known, "the lowest p99")


def _lead(group: Group, first: Sequence[Row], rows: Sequence[Row], place: str = "rank 1") -> str:
    """Compare the first row with the nearest row that is significantly worse.

    ``first`` contains the rows that might be the best, and ``place`` says what they might have.
    """
    leader, *others = rows
    found = ahead(group, leader, others)
    shown = next((each for each in found if any(map(each.holds, each.figures))), None)
    if shown is None and len(first) == 1:
        shown = found[0]
    parts = [f"{place} is undecided {_between(first)}"] if len(first) > 1 else []
    if shown is not None:
        parts += [headline(shown, figure, group) for figure in shown.figures]
    return "; ".join(parts)


def _between(rows: Sequence[Row]) -> str:
    return f"between {listed(label(row.target) for row in rows)}" if len(rows) <= TIES_NAMED else f"among {len(rows)} targets"


def _fewest_failed(group: Group) -> Iterator[str]:
    """Name the proxies that lost the fewest requests when a backend failed."""
    failed = [(found.failed.median, label(row.target)) for row in group.rows if row.counts and (found := row.summary.failover)]
    if failed:
        fewest = min(count for count, _ in failed)
        named = [name for count, name in failed if count == fewest]
        yield f"{'No failed requests' if fewest == 0 else f'Fewest failed requests ({fewest:,.0f})'}: {listed(named)}"


def _fastest(group: Group) -> Iterator[str]:
    """Summarize the table like hyperfine: name the fastest target, and say how much faster it is than each of the others."""
    known = [row for row in group.rows if row.counts]
    if len(known) < 2:
        return
    if group.rounds < ROUNDS_MIN:
        yield NO_RANKS
        return
    first, *others = known
    yield f"{_client(first)} {'was ready' if group.load.is_of_startup else 'was'}"
    for each in ahead(group, first, others):
        yield f"  {_faster(each, group)}"


def _faster(compared: Compared, group: Group) -> str:
    ((figure, comparison),) = compared.figures.items()
    name = _client(compared.baseline)
    if comparison is None or comparison.interval is None:
        return f"not compared with {name}: fewer than {ROUNDS_MIN} common rounds are valid"
    if compared.holds(figure):
        return f"faster than {name} ({SHARED})" if group.cores_shared else f"{times(comparison)} faster than {name}"
    return f"not distinguishable from {name}" + (f" ({SHARED})" if group.cores_shared else unproven(comparison))


def _client(row: Row) -> str:
    return label(row.target).removeprefix("client:")
