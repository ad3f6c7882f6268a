"""The answer of a table: which target is fastest, and by how much.

It is one line long, or one line per target for clients and for tables with a baseline.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from httpbench.analysis.compared import Compared, ahead, ranking
from httpbench.analysis.rows import Group, Row
from httpbench.model import Run, Table
from httpbench.report.words.claims import NO_RANKS, SHARED, comparisons, headline, no_ranks, times, unproven
from httpbench.report.words.targets import label
from httpbench.stats.interval import ROUNDS_MIN
from httpbench.text import listed

TIES_NAMED = 3
"""Maximum number of targets with rank 1 that are listed by name. If there are more, they are only counted."""


def answer(run: Run, group: Group) -> list[str]:
    """Return the answer of one table in as few lines as possible."""
    if group.client_work is not None:
        return list(_clients(group))
    if len(group.rows) == 2 or (run.baseline is not None and run.table is not Table.TCP_PROXIES):
        return comparisons(run, group)
    return list(_ranked(group) if group.load.rate_rps is None else _best(group, run.baseline))


def _ranked(group: Group) -> Iterator[str]:
    places = ranking(group)
    if len(group.rows) > 1 and (reason := no_ranks(group, places)):
        yield reason
    elif len(places) > 1:
        ranked = [row for row in group.rows if row.target.id in places]
        yield _lead(group, [row for row in ranked if places[row.target.id].best == 1], ranked)


def _best(group: Group, baseline: str | None) -> Iterator[str]:
    """Name the target with the lowest p99 at a rate. The baseline doesn't compete."""
    known = [row for row in group.rows if row.counts and not row.is_lower_bound and row.target.id != baseline]
    if len(known) > 1:
        known.sort(key=lambda row: row.headline.median if row.headline else math.inf)
        yield _lead(group, known[:1], known)


def _lead(group: Group, first: Sequence[Row], rows: Sequence[Row]) -> str:
    """Compare the first row with the nearest row that is significantly worse. ``first`` are the rows that may be the best."""
    leader, *others = rows
    found = ahead(group, leader, others)
    shown = next((each for each in found if any(map(each.holds, each.figures))), None)
    if shown is None and len(first) == 1:
        shown = found[0]
    parts = [f"rank 1 is undecided {_between(first)}"] if len(first) > 1 else []
    if shown is not None:
        parts += [headline(shown, figure, group) for figure in shown.figures]
    return "; ".join(parts)


def _between(rows: Sequence[Row]) -> str:
    return f"between {listed(label(row.target) for row in rows)}" if len(rows) <= TIES_NAMED else f"among {len(rows)} targets"


def _clients(group: Group) -> Iterator[str]:
    """Sum up like hyperfine: name the fastest client, and say how much faster it is than each of the other clients."""
    known = [row for row in group.rows if row.counts]
    if len(known) < 2:
        return
    if group.rounds < ROUNDS_MIN:
        yield NO_RANKS
        return
    first, *others = known
    yield f"{_client(first)} was"
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
