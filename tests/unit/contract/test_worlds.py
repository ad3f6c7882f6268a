"""Tests of checks that compare the rows in several responses: random rows, cached rows, and updates that were never written."""

from __future__ import annotations

import random

import pytest

from httpbench.contract.world_clauses import DRAWS, drawing_problem, reading_problem, rereading_problem, written_rows
from httpbench.http.rules import ROWS


@pytest.mark.parametrize("seed", range(50))
def test_random_ids_have_no_problem(seed: int) -> None:
    draw = random.Random(seed)
    for count in (1, 2, 20, DRAWS, 1000):
        assert drawing_problem([draw.randint(1, ROWS) for _ in range(count)]) is None


@pytest.mark.parametrize(
    ("ids", "problem"),
    [
        ([7] * DRAWS, "100 rows have the same id, 7"),
        ([7, 7], "2 rows have the same id, 7"),
        ([1, 2] * (DRAWS // 2), "only 2 different ids in 100 rows: the ids are not drawn from all 10,000"),
        ([number % 50 for number in range(DRAWS)], "only 50 different ids in 100 rows"),
        (list(range(1, DRAWS + 1)), "ids follow each other in steps of 1: they are not random"),
        (list(range(900, 0, -9)), "ids follow each other in steps of -9"),
    ],
)
def test_ids_that_are_not_random_are_a_problem(ids: list[int], problem: str) -> None:
    assert problem in (drawing_problem(ids) or "")


def test_the_last_update_of_a_row_counts() -> None:
    assert written_rows([[(1, 10), (2, 20)], [(1, 11), (3, 30)]]) == {1: 11, 2: 20, 3: 30}


def test_a_row_with_two_numbers_in_one_response_is_left_out() -> None:
    assert written_rows([[(1, 10), (2, 20)], [(1, 11), (1, 12)]]) == {2: 20}
    assert written_rows([[(1, 10), (1, 10)]]) == {1: 10}


def test_current_rows_have_no_problem_and_unknown_rows_are_not_compared() -> None:
    assert reading_problem([(1, 11), (9, 1)], {1: 11, 2: 20}) is None


def test_stale_rows_are_a_problem() -> None:
    assert reading_problem([(1, 10), (2, 20), (9, 1)], {1: 11, 2: 20}) == (
        "1 of 2 rows differ from what the update returned: it wrote other values or none, or reads are cached (row 1 is 10 instead of 11)"
    )


def test_one_changed_row_proves_that_rows_are_read_anew() -> None:
    before = {1: 10, 2: 20}
    assert rereading_problem(before, [(1, 10), (9, 1), (2, 21)], 500) is None
    assert rereading_problem(before, iter([(1, 10), (9, 1), (2, 20)]), 500) == (
        "none of 2 rows that were read twice changed while 500 were updated: they are cached, or updates are not written"
    )
