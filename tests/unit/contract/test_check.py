"""Tests of the result of a clause for targets that declare a limit and for targets that don't."""

from __future__ import annotations

import pytest

from httpbench.contract import Check
from httpbench.model import Limit
from httpbench.report.words.checks import check_text


@pytest.mark.parametrize(
    ("problem", "limit", "declared", "passed"),
    [
        (None, None, False, True),
        ("status 200", None, False, False),
        ("status 200", Limit.NO_ROUTER, False, False),
        ("status 200", Limit.NO_ROUTER, True, True),
        (None, Limit.NO_ROUTER, True, False),
        ("bytes were lost", Limit.STALLS, False, False),
        ("bytes were lost", Limit.STALLS, True, True),
        (None, Limit.STALLS, True, True),
    ],
)
def test_a_clause_passes_if_it_holds_or_its_failure_is_declared(
    problem: str | None, limit: Limit | None, declared: bool, passed: bool
) -> None:
    assert Check("a clause", problem, limit, declared).passed is passed


def test_an_unnecessary_limit_differs_from_one_that_only_shows_sometimes() -> None:
    assert check_text(Check("a clause", None, Limit.NO_ROUTER, True)) == "holds, but no-router is declared"
    assert check_text(Check("a clause", None, Limit.STALLS, True)) == "holds this time, although stalls is declared"
