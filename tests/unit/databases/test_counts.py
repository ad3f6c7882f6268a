"""Tests of the comparison of a database's counters with the work that the responses require."""

from __future__ import annotations

import pytest

from httpbench import catalog
from httpbench.databases import counting_problem, tables_of
from httpbench.model import Database, DatabaseRun, MixPart, ReasonKind, Workload

KNOWN = catalog.load()


def kind(workload: str | Workload, responses: int = 100, **counts: int) -> ReasonKind | None:
    """Return the kind of the problem of counters, which are 1,000,000 unless given."""
    enough = {"rows_read": 1_000_000, "rows_scanned": 0, "rows_written": 1_000_000, "selects": 1_000_000}
    counted = DatabaseRun(system=Database.POSTGRES, version="15.18", **{**enough, **counts})
    problem = counting_problem(KNOWN.workload(workload) if isinstance(workload, str) else workload, responses, counted)
    return problem.kind if problem else None


@pytest.mark.parametrize(("workload", "rows"), [("db", 1), ("query-20", 20), ("fortune", 12), ("update-20", 20)])
def test_each_response_requires_its_rows(workload: str, rows: int) -> None:
    assert kind(workload, rows_read=100 * rows) is None
    assert kind(workload, rows_read=100 * rows - 1) is ReasonKind.DATABASE_NOT_READ


@pytest.mark.parametrize(("workload", "selects"), [("db", 1), ("query-20", 20), ("fortune", 1), ("update-20", 20)])
def test_each_response_requires_its_statements(workload: str, selects: int) -> None:
    """A few statements can read as many rows as all responses require, and updates read rows, too."""
    assert kind(workload, selects=100 * selects) is None
    assert kind(workload, selects=100 * selects - 1, rows_scanned=1_000_000) is ReasonKind.DATABASE_NOT_ASKED


@pytest.mark.parametrize(("written", "passes"), [(2_000, True), (1_900, True), (1_899, False), (0, False)])
def test_updates_are_written(written: int, passes: bool) -> None:
    assert kind("update-20", rows_written=written) == (None if passes else ReasonKind.DATABASE_NOT_WRITTEN)


@pytest.mark.parametrize("workload", ["cached-query-100", "json"])
def test_caches_and_workloads_without_a_database_require_nothing(workload: str) -> None:
    assert kind(workload, rows_read=0, rows_written=0, selects=0) is None


def test_missing_counters_prove_nothing() -> None:
    assert counting_problem(KNOWN.workload("update-20"), 100, DatabaseRun(system=Database.MYSQL, version="10.11")) is None


def test_a_table_scanned_into_a_cache_counts_for_no_response() -> None:
    assert kind("db", rows_read=0, rows_scanned=10_000) is ReasonKind.DATABASE_NOT_READ


def test_fortunes_are_read_by_table_scans() -> None:
    assert kind("fortune", rows_read=0, rows_scanned=1_200) is None
    assert kind("fortune", rows_read=0, rows_scanned=1_199) is ReasonKind.DATABASE_NOT_READ


def test_a_mix_requires_the_work_of_its_parts_according_to_their_weights() -> None:
    parts = (MixPart.of(3, KNOWN.workload("json")), MixPart.of(1, KNOWN.workload("query-20")))
    mix = KNOWN.workload("json").model_copy(update={"name": "mix", "parts": parts})
    assert kind(mix, selects=475, rows_read=475, rows_written=0) is None  # 95% of 100 ÷ 4 × 20
    assert kind(mix, selects=474) is ReasonKind.DATABASE_NOT_ASKED
    assert kind(mix, rows_read=474) is ReasonKind.DATABASE_NOT_READ


def test_only_the_tables_of_the_workload_are_counted() -> None:
    """Otherwise, scans of the large table World would hide that fortunes come from a cache."""
    assert tables_of(KNOWN.workload("fortune")) == ("fortune",)
    assert tables_of(KNOWN.workload("update-20")) == ("world",)
