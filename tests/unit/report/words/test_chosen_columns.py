"""Tests of the columns that a terminal shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.analysis.groups import groups
from httpbench.model import Load, Table
from httpbench.report.terminal.changes import NAMES as CHANGE_COLUMNS
from httpbench.report.words.columns import SERVERS, USUAL, View, chosen, columns
from httpbench.report.words.columns import names as column_names
from httpbench.report.words.curves import NAMES as SEARCH_COLUMNS
from tests.factories import make_mixed_run, make_rounds, make_run

ROOT = Path(__file__).parents[4]
PAGE = (ROOT / "docs" / "reports.md").read_text(encoding="utf-8")


def names(view: View, table: Table = Table.HTTP_SERVERS, load: Load | None = None) -> list[str]:
    trials = make_rounds("a/a", (1000,), plan={"load": load or Load()})
    found = groups(make_run(trials), trials)
    return [column.name for column in chosen(found, found[0], table, view)]


def test_default_columns_have_a_bar_beside_the_ordering_column() -> None:
    assert names(View()) == ["rank", "target", "rps", "interval", "bar", "p50", "p99", "cpu", "memory", "verdict"]
    assert names(View(), load=Load(rate_rps=1000)) == [*SERVERS[:6], "bar", *SERVERS[6:]]


@pytest.mark.parametrize("table", list(Table))
def test_wide_has_all_columns_of_the_table(table: Table) -> None:
    assert names(View(wide=True), table) == [column.name for column in columns((), table)]


@pytest.mark.parametrize("table", list(Table))
def test_each_column_name_works_alone_and_is_documented(table: Table) -> None:
    assert len(set(column_names(table))) == len(column_names(table))
    assert set(USUAL[table]) <= set(column_names(table))
    for name in column_names(table):
        assert names(View(names=(name,)), table) == [name]
        assert f"`{name}`" in PAGE, name


def test_column_names_of_searches_and_changes_are_documented() -> None:
    for name in (*SEARCH_COLUMNS, *CHANGE_COLUMNS):
        assert f"`{name}`" in PAGE, name


def test_ranks_are_ranges_and_unranked_rows_are_blank() -> None:
    trials = [
        *make_rounds("a/a", (1000, 1010, 1020)),
        *make_rounds("a/b", (1001, 1009, 1021)),
        *make_rounds("a/c", (100, 101, 102)),
        *make_rounds("a/d", (99_999,)),
    ]
    run = make_run(trials)
    found = groups(run, trials)
    rank = chosen(found, found[0], run.table, View())[0]
    assert {row.target.id: rank.text(row) for row in found[0].rows} == {"a/a": "1–2", "a/b": "1–2", "a/c": "3", "a/d": ""}


def test_without_significant_differences_there_are_no_ranks() -> None:
    trials = [*make_rounds("a/a", (1000, 1010, 1020)), *make_rounds("a/b", (1001, 1009, 1021))]
    found = groups(make_run(trials), trials)
    rank = chosen(found, found[0], Table.HTTP_SERVERS, View())[0]
    assert not any(rank.text(row) for row in found[0].rows)


def test_a_row_without_valid_rounds_has_no_bar() -> None:
    run, trials = make_mixed_run()
    found = groups(run, trials)
    (bar,) = chosen(found, found[0], run.table, View(names=("bar",)))
    assert bar.length is not None
    lengths = {row.target.id: bar.length(row) for row in found[0].rows}
    assert lengths["rust/actix-raw"] is None
    assert lengths["c/epoll/level"] == 409_871.3
