"""Tests of the result of a clause for targets that declare a limit and for targets that don't."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.contract import Check, limits_to_declare
from httpbench.contract.server_clauses import CLAUSES
from httpbench.model import Limit, ProxyOutcome
from httpbench.report.words.checks import advice, ambiguous_text, check_text
from tests.factories import make_target


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


def test_only_requests_that_reach_the_backend_are_named() -> None:
    found = {
        "a": ProxyOutcome.REJECTED,
        "b": ProxyOutcome.FORWARDED,
        "c": ProxyOutcome.REJECTED,
        "d": ProxyOutcome.FORWARDED,
    }
    assert ambiguous_text(found) == "2 rejected, 0 normalized, 2 forwarded (b, d)"


def checks_of(lacking: set[str], declared: tuple[Limit, ...]) -> list[Check]:
    """Return the checks of a server on which these clauses fail, as ``check_server`` makes them."""
    checks = []
    for name, _, excuses in CLAUSES:
        limit = next((limit for limit in excuses if limit in declared), None)
        checks.append(Check(name, "a problem" if name in lacking else None, limit, limit is not None, excuses))
    return checks


EXCUSABLE = [name for name, _, excuses in CLAUSES if excuses]


@given(st.sets(st.sampled_from(EXCUSABLE)), st.sets(st.sampled_from([limit for _, _, excuses in CLAUSES for limit in excuses])))
def test_a_server_passes_with_the_limits_to_declare(lacking: set[str], declared: set[Limit]) -> None:
    if lacking & set(EXCUSABLE[:1]) or "reads a body with its request" in lacking:
        lacking = lacking | {"responds to a request pipelined behind a body"}  # a server that can't do one can't do the other
    limits = limits_to_declare(tuple(declared), checks_of(lacking, tuple(declared)))
    assert [check.name for check in checks_of(lacking, limits) if not check.passed] == []


def test_the_narrowest_limit_is_declared_and_needless_ones_are_not() -> None:
    checks = checks_of({"responds to HEAD without a body", "updates Date"}, (Limit.NO_CLOSE,))
    assert limits_to_declare((Limit.NO_CLOSE,), checks) == (Limit.NO_HEAD,)


def test_the_advice_names_what_to_fix_and_the_line_to_write() -> None:
    target = make_target("c/mine").model_copy(update={"folder": "/mine"})
    lacking = {"responds to HEAD without a body", "responds 404 to an unknown path", "updates Date"}
    assert list(advice(target, checks_of(lacking, ()))) == [
        "fix the target, because no limit excuses this: updates Date",
        "fix the rest, or if the target by design gives the same response to every path and responds to HEAD with a body, "
        'write in /mine/target.toml: limits = ["no-router", "no-head"]',
    ]
    needless = target.model_copy(update={"limits": (Limit.NO_SPLIT,)})
    assert list(advice(needless, checks_of(set(), (Limit.NO_SPLIT,)))) == [
        "some of its limits don't apply; write in /mine/target.toml: limits = []"
    ]


def test_contributors_find_the_limits_of_each_clause() -> None:
    page = (Path(__file__).parents[3] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^ *\| ([^|]+?) \| (`no-[^|]+?) \|$", page, re.MULTILINE))
    documented = {name: set(re.findall(r"`(no-[a-z-]+)`", text)) for name, text in rows.items()}
    assert documented == {name: {str(limit) for limit in excuses} for name, _, excuses in CLAUSES if excuses}
