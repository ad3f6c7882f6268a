"""Tests of the rows of the table World that responses must contain."""

from __future__ import annotations

from httpbench.databases.world import ROWS, number_of, numbers_problem


def test_the_numbers_are_those_that_the_databases_compute() -> None:
    """The sum comes from the databases themselves."""
    numbers = [number_of(row_id) for row_id in range(1, ROWS + 1)]
    assert (sum(numbers), min(numbers), max(numbers)) == (50_405_170, 1, 10_000)


def test_a_made_up_number_is_reported() -> None:
    rows = [(row_id, number_of(row_id)) for row_id in (1, 17, 4711)]
    assert numbers_problem(rows) is None
    problem = numbers_problem([*rows, (18, number_of(18) + 1)])
    assert problem == f"1 of the rows are not in the table, such as 18 with the number {number_of(18) + 1:,} instead of {number_of(18):,}"
