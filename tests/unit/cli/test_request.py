"""Tests of the options that define requests: how they combine, and which contradict each other."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from httpbench.cli.options.request import RequestsOptions
from httpbench.errors import UsageError
from httpbench.model import Expectation, Request, Workload
from tests.factories import make_target

NONE = RequestsOptions(
    workload=None,
    request_file=None,
    path=None,
    method=None,
    headers=(),
    body=None,
    expect_status=None,
    expect_body=None,
    origin=None,
    url_list=None,
    data=None,
    har=None,
)
URL = "http://127.0.0.1:8080/hello"
OPEN = Expectation(status=None)


def file(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text)
    return path


def har(folder: Path) -> Path:
    def entry(url: str, status: int) -> dict[str, Any]:
        headers = [{"name": "Authorization", "value": "old"}, {"name": "Accept", "value": "x"}]
        return {"request": {"method": "GET", "url": url, "headers": headers}, "response": {"status": status}}

    entries = [entry("http://127.0.0.1:8080/a", 200), entry("http://127.0.0.1:8080/b", 404), entry("http://cdn/c", 200)]
    return file(folder, "shop.har", json.dumps({"log": {"entries": entries}}))


def paths(workload: Workload) -> dict[str, int]:
    return {part.request.path: part.weight for part in workload.parts}


def test_a_request_file_is_combined_with_options(tmp_path: Path) -> None:
    request = file(tmp_path, "a.http", "PUT http://127.0.0.1:8080/a\nauthorization: old\nAccept: x\n\nbody\n")
    options = replace(NONE, request_file=request)
    found = options.as_workload([URL], default="plaintext")
    old = {"authorization": "old", "Accept": "x"}
    assert (found.name, found.request, found.expect) == ("put-a", Request(method="PUT", path="/a", headers=old, body="body"), OPEN)
    changed = replace(options, path="/b", method="POST", headers=("Authorization: new",), body="other", expect_status=404)
    found = changed.as_workload([URL])
    assert found.request == Request(method="POST", path="/b", headers={"Accept": "x", "Authorization": "new"}, body="other")
    assert found.expect == Expectation(status=404)


def test_a_transcript_of_curl_gets_its_body_from_an_option(tmp_path: Path) -> None:
    request = file(tmp_path, "curl.txt", "> PUT /a HTTP/1.1\n> Content-Length: 4\n>\n")
    assert replace(NONE, request_file=request, body="body").as_workload([]).request == Request(method="PUT", path="/a", body="body")


def test_urls_share_the_other_parts_of_the_request(tmp_path: Path) -> None:
    urls = file(tmp_path, "urls.txt", "/a 3\nhttp://127.0.0.1:8080/b\n")
    found = replace(NONE, url_list=urls, method="POST", headers=("A: b",), body="x").as_workload([URL], default="plaintext")
    assert (found.name, paths(found)) == ("urls.txt", {"/a": 3, "/b": 1})
    assert {(part.request.method, part.request.headers["A"], part.request.body, part.expect.status) for part in found.parts} == {
        ("POST", "b", "x", None)
    }


def test_a_data_file_fills_the_path_of_the_url_and_the_options(tmp_path: Path) -> None:
    data = file(tmp_path, "users.csv", "id,name\n1,ann\n2,bo\n")
    found = replace(NONE, data=data, headers=("X-A: {name}",), body="{{id}}").as_workload(["http://127.0.0.1:8080/users/{id}"])
    assert found.listed is not None and found.name == "post-users-id"
    assert [each.request for each in found.listed.requests] == [
        Request(method="POST", path=f"/users/{number}", headers={"X-A": name}, body=str(number)) for number, name in ((1, "ann"), (2, "bo"))
    ]


def test_a_data_file_fills_a_request_file(tmp_path: Path) -> None:
    data = file(tmp_path, "users.jsonl", '{"id": 1}\n{"id": 2}\n')
    request = file(tmp_path, "a.http", "@base = /v1\nGET {{base}}/{{id}}\n")
    found = replace(NONE, data=data, request_file=request).as_workload([URL])
    assert found.listed is not None
    assert [each.request.path for each in found.listed.requests] == ["/v1/1", "/v1/2"]


def test_a_recording_keeps_its_statuses_and_reports_what_is_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = replace(NONE, har=har(tmp_path), headers=("authorization: new",))
    found = options.as_workload([URL])
    assert [(part.request.path, part.expect.status) for part in found.parts] == [("/a", None), ("/b", 404)]
    assert found.parts[0].request.headers == {"Accept": "x", "authorization": "new"}
    assert capsys.readouterr().err == f"{tmp_path}/shop.har: sends 2 requests, without 1 to other origins\n"
    found = replace(options, expect_status=200, expect_body="x").as_workload([URL])
    assert {(part.expect.status, part.expect.body) for part in found.parts} == {(200, "x")}


def test_another_origin_can_be_chosen(tmp_path: Path) -> None:
    options = replace(NONE, har=har(tmp_path), origin="http://cdn")
    assert options.as_workload([URL]).request.path == "/c"
    with pytest.raises(UsageError, match="no request to http://other"):
        replace(options, origin=None).as_workload(["http://other/"])
    assert replace(options, origin=None).as_workload(["unix:/run/socket"]).parts, "a Unix socket has no origin"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        ({"url_list": 1, "data": 1}, "--urls and --data"),
        ({"url_list": 1, "har": 1}, "--urls and --har"),
        ({"url_list": 1, "workload": "json"}, "--urls and --workload"),
        ({"url_list": 1, "request_file": 1}, "--urls and --request"),
        ({"url_list": 1, "path": "/a"}, "--urls and --path"),
        ({"har": 1, "workload": "json"}, "--har and --workload"),
        ({"har": 1, "method": "POST"}, "--har and --method"),
        ({"har": 1, "body": ""}, "--har and --body"),
        ({"har": 1, "path": "/a"}, "--har and --path"),
        ({"data": 1, "workload": "json"}, "--data and --workload"),
        ({"request_file": 1, "workload": "json"}, "--workload and --request"),
    ],
)
def test_contradictions_are_errors(given: dict[str, Any], names: str) -> None:
    values: dict[str, Any] = {name: Path("none") if value == 1 else value for name, value in given.items()}
    options = replace(NONE, **values)
    with pytest.raises(UsageError) as raised:
        options.as_workload([URL])
    assert (raised.value.message, raised.value.hint) == (f"{names} both define the request", "remove one of them")


def test_an_origin_requires_a_file_with_urls() -> None:
    for options in (NONE, replace(NONE, data=Path("users.csv"))):
        with pytest.raises(UsageError, match="--origin applies to URLs in files only"):
            replace(options, origin="http://a").as_workload([URL])


def test_requests_of_the_user_replace_the_paths_of_a_target() -> None:
    target = make_target(paths={"plaintext": "/p"})
    for given in ({"path": "/a"}, {"request_file": Path("a")}, {"url_list": Path("a")}, {"data": Path("a")}, {"har": Path("a")}):
        assert replace(NONE, **given).applied(target).paths == {}
    assert NONE.applied(target) == target
