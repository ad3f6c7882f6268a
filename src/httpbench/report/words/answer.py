"""The answer of a table: which target is fastest, and by how much.

It is one line long, or one line per target for clients and for tables with a baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import takewhile

from httpbench.analysis.compared import Compared, ahead, ranking
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Table
from httpbench.report.words.claims import NO_RANKS, comparisons, headline, no_difference, times
from httpbench.report.words.numbers import plus_minus
from httpbench.report.words.targets import label
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.stats.paired import Comparison
from httpbench.text import listed

TIES_NAMED = 3
"""Maximum number of targets with rank 1 that are listed by name. If there are more, they are only counted."""


def answer(run: Run, group: Group) -> list[str]:
    """Return the answer of one table in as few lines as possible."""
    if group.client_work is not None:
        return list(_clients(group))
    if len(group.rows) == 2 or (run.baseline is not None and run.table is not Table.TCP_PROXIES):
        return comparisons(run, group)
    has_ranks = run.baseline is None and group.load.rate_rps is None
    return list(_ranked(group) if has_ranks else _best(group, run.baseline))


def _ranked(group: Group) -> Iterator[str]:
    if len(group.rows) < 2:
        return
    if group.rounds < ROUNDS_MIN:
        yield NO_RANKS
        return
    places = ranking(group)
    if len(places) < 2:
        return
    if set(places.values()) == {1}:
        yield no_difference(group)
        return
    ranked = [row for row in group.rows if row.target.id in places]
    first = list(takewhile(lambda row: places[row.target.id] == 1, ranked))
    others = [row for row in ranked if row not in first]
    unsteady = [row for row in others if places[row.target.id] == 1]
    yield from _lead(group, first, [row for row in others if row not in unsteady])
    if unsteady:
        yield f"rounds too far apart for a rank of its own: {_named(unsteady)}"


def _best(group: Group, baseline: str | None) -> Iterator[str]:
    """Name the best of rows without ranks: the lowest p99 at a rate, else the highest throughput. The baseline doesn't compete."""
    known = [row for row in group.rows if row.counts and not row.is_lower_bound and row.target.id != baseline]
    if group.load.rate_rps is not None:
        known.sort(key=_p99_us)
    if len(known) > 1:
        yield from _lead(group, known[:1], known[1:])


def _lead(group: Group, first: Sequence[Row], others: Sequence[Row]) -> Iterator[str]:
    """Compare the first row with the nearest significantly slower row, and name the rows that share its rank."""
    found = ahead(group, first[0], others)
    shown = next((each for each in found if any(one and one.differs for one in each.figures.values())), None)
    if shown is None and len(first) == 1:
        shown = found[0]
    parts = [f"{_named(first)} share rank 1"] if len(first) > 1 else []
    if shown is not None:
        ((figure, comparison),) = shown.figures.items()
        parts.append(headline(figure, comparison, label(shown.row.target), label(shown.baseline.target), len(found)))
    yield "; ".join(parts)


def _named(rows: Sequence[Row]) -> str:
    return listed(label(row.target) for row in rows) if len(rows) <= TIES_NAMED else f"{len(rows)} targets"


def _clients(group: Group) -> Iterator[str]:
    """Sum up like hyperfine: name the fastest client, and say how much faster it is than each of the other clients."""
    known = [row for row in group.rows if row.counts]
    if len(known) < 2:
        return
    if group.rounds < ROUNDS_MIN:
        yield NO_RANKS
        return
    first, *others = known
    yield f"{_client(first)} ran"
    for each in ahead(group, first, others):
        yield f"  {_faster(each)}"


def _faster(compared: Compared) -> str:
    (comparison,) = compared.figures.values()
    name = _client(compared.baseline)
    if comparison is None or comparison.interval is None:
        return f"and {name} cannot be compared: fewer than {ROUNDS_MIN} rounds have both"
    return f"{times(comparison)} faster than {name}" if comparison.differs else f"as fast as {name}{_noise(comparison)}"


def _noise(comparison: Comparison) -> str:
    return f", within the noise ({plus_minus(comparison.interval.half_width)})" if comparison.interval else ""


def _client(row: Row) -> str:
    return label(row.target).removeprefix("client:")


def _p99_us(row: Row) -> float:
    return row.latency.p99.median if row.latency and row.latency.p99 else math.inf
