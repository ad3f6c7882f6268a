"""Which path a workload asks a target for."""

from __future__ import annotations

import pytest

from httpbench import catalog
from tests.factories import make_target

WORKLOADS = catalog.load().workloads
PATHS = {"json": "/j", "query": "/q?n="}


@pytest.mark.parametrize(("name", "path"), [("json", "/j"), ("query-20", "/q?n=20"), ("db", "/db")])
def test_a_path_that_the_target_declares_takes_the_place_of_the_workloads_own(name: str, path: str) -> None:
    assert WORKLOADS[name].of(make_target(paths=PATHS)).request.path == path


def test_a_target_serves_what_it_declares_or_everything() -> None:
    served = [name for name in ("plaintext", "json", "query-20", "db") if WORKLOADS[name].is_served_by(make_target(paths=PATHS))]
    assert served == ["json", "query-20"]
    assert all(WORKLOADS[name].is_served_by(make_target()) for name in ("plaintext", "db"))


def test_a_path_of_the_user_takes_the_place_of_both() -> None:
    target = make_target(paths=PATHS)
    assert target.at(None) == target
    assert target.at("/mine").paths == {}
