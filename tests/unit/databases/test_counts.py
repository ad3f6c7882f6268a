"""Tests of the comparison of a database's counters with the number of queries that the responses required."""

from __future__ import annotations

import pytest

from httpbench import catalog
from httpbench.databases import counting_problem
from httpbench.model import Database, DatabaseRun
from httpbench.report.words.reasons import sentence

KNOWN = catalog.load()


def counted(read: int | None, written: int | None = 0, scanned: int = 0) -> DatabaseRun:
    return DatabaseRun(system=Database.POSTGRES, version="15.18", rows_read=read, rows_scanned=scanned, rows_written=written)


@pytest.mark.parametrize(("workload", "rows"), [("db", 1), ("query-20", 20), ("fortune", 12), ("update-20", 20)])
def test_each_response_requires_its_rows(workload: str, rows: int) -> None:
    known, by_updates = KNOWN.workload(workload), 1_900 if workload == "update-20" else 0
    assert counting_problem(known, 100, counted(100 * rows + by_updates, 100 * rows)) is None
    problem = counting_problem(known, 100, counted(100 * rows + by_updates - 1, 100 * rows))
    assert problem is not None
    said = sentence(problem)
    assert said.endswith("the target did not ask it each time")
    assert f"for 100 responses, which require {100 * rows:,}" in said


@pytest.mark.parametrize(("written", "passes"), [(2_000, True), (1_900, True), (1_899, False), (0, False)])
def test_updates_are_written(written: int, passes: bool) -> None:
    assert (counting_problem(KNOWN.workload("update-20"), 100, counted(4_000, written)) is None) == passes


def test_rows_that_updates_read_by_key_count_for_no_response() -> None:
    updates = KNOWN.workload("update-20")
    assert counting_problem(updates, 100, counted(2_000, 2_000)) is not None, "it updated without reading"
    assert counting_problem(updates, 100, counted(2_000, 2_000, scanned=1_000_000)) is None, "updates scanned the table"


def test_the_cache_test_requires_no_reads() -> None:
    assert counting_problem(KNOWN.workload("cached-query-100"), 100, counted(0)) is None


def test_a_workload_without_a_database_requires_nothing() -> None:
    assert counting_problem(KNOWN.workload("json"), 100, counted(0)) is None


def test_missing_counters_prove_nothing() -> None:
    assert counting_problem(KNOWN.workload("update-20"), 100, counted(None, None)) is None


def test_a_table_scanned_into_a_cache_counts_for_no_response() -> None:
    assert counting_problem(KNOWN.workload("db"), 100, counted(0, scanned=10_000)) is not None


def test_fortunes_are_read_by_table_scans() -> None:
    assert counting_problem(KNOWN.workload("fortune"), 100, counted(0, scanned=1_200)) is None
    assert counting_problem(KNOWN.workload("fortune"), 100, counted(0, scanned=1_199)) is not None
