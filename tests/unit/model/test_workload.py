"""Tests of the path that a workload requests from a target."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from httpbench import catalog
from httpbench.model import Entry, Expectation, Rule
from tests.factories import make_target

WORKLOADS = catalog.load().workloads
PATHS = {"json": "/j", "query": "/q?n="}


@pytest.mark.parametrize(("name", "path"), [("json", "/j"), ("query-20", "/q?n=20"), ("db", "/db")])
def test_a_targets_path_replaces_the_workloads_own(name: str, path: str) -> None:
    assert WORKLOADS[name].of(make_target(paths=PATHS)).request.path == path


def test_a_target_serves_what_it_declares_or_everything() -> None:
    served = [name for name in ("plaintext", "json", "query-20", "db") if WORKLOADS[name].is_served_by(make_target(paths=PATHS))]
    assert served == ["json", "query-20"]
    assert all(WORKLOADS[name].is_served_by(make_target()) for name in ("plaintext", "db"))


def test_any_success_status_is_accepted_with_2xx() -> None:
    assert WORKLOADS["web-frameworks-create"].expect.status is None
    for status in (99, "3xx", 600):
        with pytest.raises(ValidationError):
            Expectation.model_validate({"status": status})


def test_the_users_path_replaces_both() -> None:
    target = make_target(paths=PATHS)
    assert target.at(None) == target
    assert target.at("/mine").paths == {}


def test_rows_are_appended_only_for_tests_with_several_workloads() -> None:
    target = make_target(paths={"httparena-json": "/json/50?m=6", "httparena-baseline": "/add?a=1"})
    assert WORKLOADS["httparena-json"].of(target).request.path == "/json/50?m=6"
    assert WORKLOADS["httparena-baseline-post"].of(target).request.path == "/add?a=1"


def test_targets_of_other_projects_use_the_published_rules() -> None:
    plaintext, paths = WORKLOADS["plaintext"], {"plaintext": "/plaintext"}
    expect = plaintext.of(make_target(paths=paths, entry=Entry(catalogue="techempower", name="one", display_name="One"))).expect
    assert (expect.rule, expect.body, expect.headers) == (Rule.TEXT_MESSAGE, None, ("Server", "Date"))
    assert plaintext.of(make_target(paths=paths)).expect == plaintext.expect
