"""Tests that a request is built for each row of a data file, and that each wrong file is reported in one sentence with its place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import UsageError
from httpbench.load import requests
from httpbench.load.data_file import read_rows
from httpbench.model import Request

TEMPLATE = Request(method="POST", path="/users/{id}?q={{name}}", headers={"X-Name": "<{name}>", "A": "b"}, body='{"id": {id}, "a": {}}')


def written(folder: Path, content: str, name: str) -> Path:
    path = folder / name
    path.write_bytes(content.encode())
    return path


def problem(folder: Path, content: str, name: str, template: Request) -> tuple[str, str | None]:
    with pytest.raises(UsageError) as raised:
        read_rows(written(folder, content, name), template)
    assert "\n" not in raised.value.message
    return raised.value.message.removeprefix(f"{folder}/"), raised.value.hint


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("users.csv", "id,name\n1,ann\n2,bo b\n"),
        ("users.CSV", '\ufeffid, name,unused\r\n1,ann,x\r\n\r\n2,"bo b",""\r\n'),
        ("users.jsonl", '{"id": 1, "name": "ann"}\n\n{"id": "2", "name": "bo b", "unused": null}'),
        ("users.ndjson", '\ufeff{"id": 1, "name": "ann"}\r\n{"name": "bo b", "id": 2}\r\n'),
    ],
)
def test_each_row_becomes_a_request(tmp_path: Path, name: str, content: str) -> None:
    first, second = (each.request for each in read_rows(written(tmp_path, content, name), TEMPLATE))
    headers = {"X-Name": "<ann>", "A": "b"}
    assert first == Request(method="POST", path="/users/1?q=ann", headers=headers, body='{"id": 1, "a": {}}')
    assert (second.path, second.headers["X-Name"]) == ("/users/2?q=bo%20b", "<bo b>")


def test_values_are_inserted_as_they_are_except_in_paths(tmp_path: Path) -> None:
    content = '{"v": "a/b?c=%20&ü\\"{w}", "w": [1, {"x": null}], "t": true}'
    template = Request(path="/{v}", headers={"X": "{t}"}, body="{w}{v}")
    (only,) = (each.request for each in read_rows(written(tmp_path, content, "d.jsonl"), template))
    assert only.path == '/a/b?c=%20&%C3%BC"{w}'
    assert (only.headers["X"], only.body) == ("true", '[1, {"x": null}]a/b?c=%20&ü"{w}')


def test_a_value_in_quotes_may_contain_line_breaks(tmp_path: Path) -> None:
    content = 'text,id\n"two\nlines",1\nx,2,3\n'
    assert problem(tmp_path, content, "d.csv", TEMPLATE) == (
        'd.csv:2: no column "name", which the path uses',
        "its columns are text and id",
    )
    assert problem(tmp_path, content, "d.csv", Request(body="{text}")) == ("d.csv:4: 2 columns, but 3 in this row", None)
    message = 'd.csv:2: a line break or control character in the column "text", which the header X uses'
    assert problem(tmp_path, content, "d.csv", Request(headers={"X": "{text}"})) == (message, None)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("d.txt", "id\n1\n", "d.txt: unknown kind of data file"),
        ("d.csv", "", "d.csv: the file is empty"),
        ("d.csv", "id\n", "d.csv: no rows"),
        ("d.csv", "id,\n1,2\n", "d.csv:1: column 2 has no name"),
        ("d.csv", "id,id\n1,2\n", 'd.csv:1: two columns are called "id"'),
        ("d.csv", "id,name\n1\n", "d.csv:2: 2 columns, but 1 in this row"),
        ("d.csv", 'id,name\n1,"a\n', "d.csv:2: not CSV: unexpected end of data"),
        ("d.csv", 'id,name\n1,"a"b\n', "d.csv:2: not CSV: ',' expected after '\"'"),
        ("d.csv", "id;name\n1;2\n", 'd.csv:2: no column "id", which the path uses'),
        ("d.csv", "ID\n1\n", 'd.csv:2: no column "id", which the path uses'),
        ("d.jsonl", '{"id": 1}\n{"id": }\n', "d.jsonl:2:8: not JSON: Expecting value"),
        ("d.jsonl", "[\n", "d.jsonl:1:2: not JSON: Expecting value"),
        ("d.jsonl", '{"id": 1}\n[1]\n', "d.jsonl:2:1: not a JSON object"),
        ("d.jsonl", '{"id": 1}\n\n{"ids": 1}\n', 'd.jsonl:3: no column "id", which the path uses'),
        ("d.jsonl", "[" * 100_000, "d.jsonl:1:1: not JSON: nested too deeply"),
        ("d.jsonl", '{"id": 1' + "0" * 5000 + "}", "d.jsonl:1:1: not JSON: a number with thousands of digits"),
        ("d.jsonl", "{}", 'd.jsonl:1: no column "id", which the path uses'),
        ("d.jsonl", '{"id": "\\ud800"}', 'd.jsonl:1: "\\ud800" is half of a character (a lone surrogate)'),
    ],
)
def test_a_wrong_data_file_is_reported(tmp_path: Path, name: str, content: str, message: str) -> None:
    assert problem(tmp_path, content, name, Request(path="/{id}"))[0] == message


def test_a_request_without_placeholders_is_reported(tmp_path: Path) -> None:
    message, hint = problem(tmp_path, "id,name\n1,2\n", "d.csv", Request(body='{"id": 1}'))
    assert message == "d.csv: the request has no placeholder for a column"
    assert hint == "insert one into the path, a header or the body: --path '/items/{id}'"


@pytest.mark.parametrize("limit", [{"REQUESTS_MAX": 2}, {"REQUESTS_BYTES_MAX": 8}])
def test_too_many_requests_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: dict[str, Any]) -> None:
    for name, value in limit.items():
        monkeypatch.setattr(requests, name, value)
    message, _ = problem(tmp_path, "id\n123\n123\n123\n", "d.csv", Request(path="/{id}"))
    assert message.startswith("d.csv:4: more than ")
