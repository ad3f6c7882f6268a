"""The columns that a terminal shows: those that fit, all columns, or those chosen with ``--columns``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from httpbench.analysis.compared import is_undecided, ranking
from httpbench.analysis.rows import Group, Row
from httpbench.model import Load, Table
from httpbench.report.words.columns import ALWAYS, Column, columns, further
from httpbench.report.words.numbers import rank_text
from httpbench.report.words.targets import short_name

RANK_NEED, BAR_NEED = 5, 20
"""Needs of the columns for rank and bar. Bars are omitted first, because they repeat another column."""

SERVERS = ("rank", "target", "rps", "interval", "p50", "p99", "cpu", "memory", "verdict")

USUAL = {
    Table.HTTP_SERVERS: SERVERS,
    Table.APP_SERVERS: SERVERS,
    Table.COMMANDS: SERVERS,
    Table.TCP_PROXIES: ("rank", "target", "held", "rps", "p50", "p99", "cpu-request", "memory", "verdict"),
    Table.HTTP_CLIENTS: ("rank", "target", "mean", "stddev", "relative", "startup", "cpu-request", "memory", "verdict"),
}
"""Columns shown by default. A bar is added next to the column by which the rows are ordered."""

OF_GROUP = ("rank", "target", "bar")
"""Columns that depend on other rows of a table, or that only a terminal has."""

OVERHEAD = ("target", "rps", "p50", "p99", "p99.9")
"""Default columns of the overhead table of proxies."""


@dataclass(frozen=True, slots=True)
class View:
    """What the user asked to see."""

    wide: bool = False
    """Whether to show every column."""
    names: tuple[str, ...] = ()
    """Columns to show. Empty: the default."""
    explain: bool = False
    """Whether to show every note."""


def names(table: Table) -> list[str]:
    """Return the names that ``--columns`` accepts for this kind of table."""
    return list(dict.fromkeys([*OF_GROUP, *(column.name for column in (*columns((), table), *further((), table)))]))


def chosen(found: Sequence[Group], group: Group, table: Table, view: View) -> list[Column]:
    """Return the columns of one table, from left to right. Chosen names that this table lacks are ignored.

    ``found`` contains all tables of the run.
    """
    if view.wide:
        return [replace(column, short="") for column in columns(found, table)]
    every = (*_of_group(group), *columns(found, table), *further(found, table))
    known = {column.name: column for column in reversed(every)}  # the first column with a name wins
    return [known[name] for name in view.names or _usual(table, group.load) if name in known]


def chosen_overhead(every: Sequence[Column], view: View) -> list[Column]:
    """Return the columns of the overhead table of proxies, which ``--columns`` doesn't affect."""
    return [column for column in every if view.wide or column.name in OVERHEAD]


def _usual(table: Table, load: Load) -> list[str]:
    usual = list(USUAL[table])
    beside = "p99" if load.rate_rps is not None else next(name for name in ("stddev", "interval", "rps") if name in usual)
    usual.insert(usual.index(beside) + 1, "bar")
    return usual


def _of_group(group: Group) -> list[Column]:
    places = ranking(group)
    ranks = {} if is_undecided(places) else {name: rank_text(rank) for name, rank in places.items()}
    return [
        Column("rank", "Rank", "", lambda row: ranks.get(row.target.id, ""), RANK_NEED, is_number=False, short="#"),
        Column("target", "Target", "", lambda row: short_name(row.target), ALWAYS, is_number=False, is_name=True),
        Column("bar", "", "", lambda row: "", BAR_NEED, is_number=False, length=_length),
    ]


def _length(row: Row) -> float | None:
    """Return the value by which the rows are ordered: throughput, a client's time, or p99 if the load has a rate."""
    if not row.counts:
        return None
    if row.summary.client is not None:
        return row.summary.client.mean_s
    return row.headline.median if row.headline else None
