"""Which columns of a table a reader sees: a few that fit a narrow terminal, all of them, or those that were named."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace

from httpbench.analysis.compared import ranking
from httpbench.analysis.rows import Group, Row
from httpbench.model import Kind, Load, Table
from httpbench.report.words.columns import ALWAYS, Column, columns, further

RANK_NEED, BAR_NEED = 5, 20
"""A bar is the first to go from a narrow terminal: it repeats a figure."""

TIE = "="
"""After a rank that several rows share."""

SERVERS = ("rank", "target", "rps", "spread", "p50", "p99", "cpu", "memory", "verdict")

USUAL = {
    Table.HTTP_SERVERS: SERVERS,
    Table.APP_SERVERS: SERVERS,
    Table.COMMANDS: SERVERS,
    Table.TCP_PROXIES: ("rank", "target", "held", "rps", "p50", "p99", "cpu-request", "memory", "verdict"),
    Table.HTTP_CLIENTS: ("rank", "target", "mean", "stddev", "relative", "startup", "cpu-request", "memory", "verdict"),
}
"""What is shown unless a reader asks for something else. A bar is added beside the figure that orders the rows."""

OF_GROUP = ("rank", "target", "bar")
"""Columns that require the other rows of a table, or that only a terminal has."""

OVERHEAD = ("target", "rps", "p50", "p99", "p99.9")
"""The same for the second table of proxies."""


@dataclass(frozen=True, slots=True)
class View:
    """What a reader asked to see."""

    wide: bool = False
    """Every column."""
    names: tuple[str, ...] = ()
    """These columns; empty: the usual ones."""
    explain: bool = False
    """Every note."""


def names(table: Table) -> list[str]:
    """What ``--columns`` accepts for this kind of table."""
    return list(dict.fromkeys([*OF_GROUP, *(column.name for column in (*columns((), table), *further((), table)))]))


def chosen(found: Sequence[Group], group: Group, table: Table, view: View) -> list[Column]:
    """The columns of one table, from left to right. ``found``: all tables of the run. Names that this table lacks are left out."""
    if view.wide:
        return [replace(column, short="") for column in columns(found, table)]
    known = _available(found, group, table)
    return [known[name] for name in view.names or _usual(table, group.load) if name in known]


def chosen_overhead(every: Sequence[Column], view: View) -> list[Column]:
    """Of the second table of proxies. Columns that were named are those of the first."""
    return [column for column in every if view.wide or column.name in OVERHEAD]


def target_name(row: Row) -> str:
    """Id without its kind; of a server that has none, its name."""
    target = row.target
    return target.id.removeprefix(f"{target.kind}:") if target.is_declared or target.kind is Kind.PROXY else target.title


def _usual(table: Table, load: Load) -> list[str]:
    usual = list(USUAL[table])
    beside = "p99" if load.rate_rps is not None else next(name for name in ("stddev", "spread", "rps") if name in usual)
    usual.insert(usual.index(beside) + 1, "bar")
    return usual


def _available(found: Sequence[Group], group: Group, table: Table) -> dict[str, Column]:
    known: dict[str, Column] = {}
    for column in (*_of_group(group), *columns(found, table), *further(found, table)):
        known.setdefault(column.name, column)
    return known


def _of_group(group: Group) -> list[Column]:
    places = _rank_texts(group)
    return [
        Column("rank", "Rank", "", lambda row: places.get(row.target.id, ""), RANK_NEED, is_number=False, short="#"),
        Column("target", "Target", "", target_name, ALWAYS, is_number=False, is_name=True),
        Column("bar", "", "", lambda row: "", BAR_NEED, is_number=False, length=lambda row: _length(row, group.load)),
    ]


def _rank_texts(group: Group) -> dict[str, str]:
    """Id → ``1``, or ``1=`` of those that share it. Empty if no row is shown to be faster than another."""
    places = ranking(group)
    sizes = Counter(places.values())
    return {name: f"{place}{TIE if sizes[place] > 1 else ''}" for name, place in places.items()} if len(sizes) > 1 else {}


def _length(row: Row, load: Load) -> float | None:
    """The figure that orders the rows: throughput, time of a client, p99 at a rate."""
    if not row.counts:
        return None
    if row.summary.client is not None:
        return row.summary.client.mean_s
    times = row.latency
    figure = row.summary.throughput_rps if load.rate_rps is None else times.p99 if times else None
    return figure.median if figure else None
