"""Tests that workloads are found by name, including files, names that contain a number of rows, and mixes."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from httpbench import catalog
from httpbench.catalog.workload_names import find
from httpbench.errors import SelectionError
from httpbench.model import Workload
from tests.factories import make_target


@pytest.fixture(scope="module")
def known() -> Mapping[str, Workload]:
    return catalog.load().workloads


@pytest.mark.parametrize(("name", "rows"), [("query-1", 1), ("query-5", 5), ("update-15", 15), ("cached-query-50", 50), ("query-500", 500)])
def test_a_number_in_the_name_sets_the_number_of_rows(known: Mapping[str, Workload], name: str, rows: int) -> None:
    found = find(known, name)
    assert (found.name, found.expect.rows) == (name, rows)
    assert found.request.path.endswith(f"={rows}")
    assert found.of(make_target(paths={found.asked: "/own?n="})).request.path == f"/own?n={rows}"


@pytest.mark.parametrize("name", ["query-0", "query-501", "query-05", "query-", "query", "json-5", "queries-5"])
def test_other_numbers_and_other_names_are_unknown(known: Mapping[str, Workload], name: str) -> None:
    with pytest.raises(SelectionError, match=f'unknown workload "{name}"') as raised:
        find(known, name)
    assert raised.value.hint is not None and "query-N" in raised.value.hint and "from 1 to 500" in raised.value.hint


def test_a_mix_has_the_workloads_with_their_weights(known: Mapping[str, Workload]) -> None:
    mix = find(known, "json:3,query-5")
    assert [(part.weight, part.name) for part in mix.parts] == [(3, "json"), (1, "query-5")]
    assert mix.description == "A mix of 75% json and 25% query-5"
    assert mix.request == known["json"].request and [each.request.path for each in mix.each] == ["/json", "/queries?queries=5"]


def test_a_mix_uses_the_paths_of_a_target_and_requires_all_of_them(known: Mapping[str, Workload]) -> None:
    mix = find(known, "json:3,db:1")
    target = make_target(paths={"json": "/j", "db": "/d"})
    assert mix.is_served_by(target) and [each.request.path for each in mix.of(target).each] == ["/j", "/d"]
    assert mix.of(target).request.path == "/j"
    assert not mix.is_served_by(make_target(paths={"json": "/j"}))


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("json:3", "a mix takes 2 to 16 different workloads"),
        ("json:3,json:1", "a mix takes 2 to 16 different workloads"),
        ("json:3,", '"" is not NAME:WEIGHT'),
        ("json:0,db:1", '"json:0" is not NAME:WEIGHT'),
        ("json:1001,db:1", "with a weight from 1 to 1000"),
        ("json:x,db", '"json:x" is not NAME:WEIGHT'),
        ("jason:1,db:1", 'unknown workload "jason" (did you mean "json"?)'),
        ("client-large,db", "client-large is not for servers"),
    ],
)
def test_an_invalid_mix_is_an_error(known: Mapping[str, Workload], name: str, problem: str) -> None:
    with pytest.raises(SelectionError) as raised:
        find(known, name)
    assert problem in raised.value.message
