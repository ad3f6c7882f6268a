"""Tests that the requests in a user's file become a workload."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.load import requests
from httpbench.load.requests import PARTS_MAX, name_of, workload_of
from httpbench.model import Expectation, ListedRequest, Request, Workload

OPEN = Expectation(status=None)


def of(*paths: str, file: str = "urls.txt", template: Request | None = None) -> Workload:
    listed = [ListedRequest(weight=number, request=Request(path=path)) for number, path in enumerate(paths, 1)]
    return workload_of(Path("folder") / file, listed, OPEN, template)


def test_one_request_is_an_ordinary_workload() -> None:
    found = of("/a")
    assert (found.name, found.request, found.expect) == ("get-a", Request(path="/a"), OPEN)
    assert found.has_one_request


def test_a_few_requests_have_results_of_their_own() -> None:
    found = of("/a", "/A", "/a?", "/" + "b" * 200, "/" + "b" * 201)
    assert [part.weight for part in found.parts] == [1, 2, 3, 4, 5]
    assert [part.name for part in found.parts] == ["get-a", "get-a-2", "get-a-3", "get-" + "b" * 56, "get-" + "b" * 56 + "-2"]
    assert found.request == Request(path="/a") and not found.has_one_request


def test_many_requests_are_a_list() -> None:
    found = of(*(f"/{number}" for number in range(PARTS_MAX + 1)))
    assert found.listed is not None and not found.parts and not found.has_one_request
    assert (found.listed.source, found.listed.count, found.request.path) == ("urls.txt", 17, "/0")
    assert found.description == "17 requests from urls.txt"


def test_the_first_request_of_a_list_has_the_expectation_of_the_list() -> None:
    moved = [ListedRequest(request=Request(path="/moved"), expect=Expectation(status=302))]
    others = [ListedRequest(request=Request(path=f"/{number}")) for number in range(PARTS_MAX)]
    found = workload_of(Path("a.har"), moved + others, OPEN)
    assert (found.request.path, found.expect) == ("/0", OPEN)
    found = workload_of(Path("a.har"), moved + others[:1], OPEN)
    assert (found.request.path, found.expect.status) == ("/moved", 302)
    found = workload_of(Path("a.har"), moved * (PARTS_MAX + 1), OPEN)
    assert (found.request.path, found.expect.status) == ("/moved", 302)


def test_requests_from_a_template_are_a_list_with_its_name() -> None:
    template = Request(path="/users/{id}")
    found = of("/users/1", "/users/2", file="users.csv", template=template)
    assert found.listed is not None and found.listed.template == template
    assert found.name == "get-users-id"


def test_lists_with_other_requests_or_weights_differ() -> None:
    template = Request()
    hashes = {found.listed.sha256 for found in (of("/a", "/b", template=template), of("/b", "/a", template=template)) if found.listed}
    assert len(hashes) == 2


@pytest.mark.parametrize(("file", "name"), [("My URLs.txt", "my-urls.txt"), ("_x", "x"), ("ü", "requests"), (".urls", "urls")])
def test_a_mix_is_named_after_its_file(file: str, name: str) -> None:
    assert of("/a", "/b", file=file).name == name


@pytest.mark.parametrize(
    ("limit", "message"),
    [
        ({"REQUESTS_MAX": 1}, "folder/urls.txt: more than 1 requests or 64 MB of requests"),
        ({"REQUESTS_BYTES_MAX": 3}, "folder/urls.txt: more than 100,000 requests or 0 MB of requests"),
        ({"WEIGHTS_MAX": 2}, "folder/urls.txt: the weights add up to more than 2"),
    ],
)
def test_limits_are_checked(monkeypatch: pytest.MonkeyPatch, limit: dict[str, int], message: str) -> None:
    assert of("/a", "/b").parts
    for name, value in limit.items():
        monkeypatch.setattr(requests, name, value)
    with pytest.raises(UsageError) as raised:
        of("/a", "/b")
    assert raised.value.message == message


def test_a_request_is_named_after_its_method_and_path() -> None:
    assert name_of(Request(method="POST", path="/a/b?c=d&e")) == "post-a-b-c-d-e"
    assert name_of(Request()) == "get"
