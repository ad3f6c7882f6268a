"""Tests that requests are read from the files of users, and that each wrong file is reported in one sentence with its place."""

from __future__ import annotations

import json
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from httpbench.errors import UsageError
from httpbench.load.request_files import read_har, read_request, read_urls
from httpbench.load.text_file import FILE_BYTES_MAX, origin_of, read
from httpbench.model import Request

CURL = """\
*   Trying 127.0.0.1:8080...
  % Total    % Received\r100    13
> POST /orders?x=1 HTTP/1.1\r
> Host: localhost:8080\r
> Authorization: Bearer secret\r
> content-type: application/json\r
> Content-Length: 2\r
> \r
} [2 bytes data]
< HTTP/1.1 200 OK\r
< Content-Length: 13\r
"""

HTTP_FILE = """\
### Create an order
# A comment
@host = http://localhost:8080
@token = t0ken

POST {{host}}/orders
    ?x=1
    &y=2 HTTP/1.1
Authorization: Bearer {{token}}
// another comment
Content-Type: application/json

{
  "id": 1
}

###
"""


def written(folder: Path, content: str | bytes, name: str = "file.txt") -> Path:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def problem(folder: Path, content: str | bytes, reader: Any, name: str = "file.txt") -> tuple[str, str | None]:
    """Return the message about a wrong file, without its folder, and the hint."""
    with pytest.raises(UsageError) as raised:
        reader(written(folder, content, name))
    assert "\n" not in raised.value.message
    return raised.value.message.removeprefix(f"{folder}/"), raised.value.hint


# --- any file --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "file.txt: the file is empty"),
        (b" \r\n\n", "file.txt: the file is empty"),
        (b"\xef\xbb\xbf", "file.txt: the file is empty"),
        (b"/a\n/b \xff\n", "file.txt:2:4: byte 0xff is not UTF-8 text"),
        (b"\x7fELF\x02\x01\x01\x00", "file.txt:1:8: a zero byte, so this is not a text file"),
        (b"\x1f\x8b\x08\x00", "file.txt:1:2: byte 0x8b is not UTF-8 text"),
    ],
)
def test_a_file_that_is_not_text_is_reported(tmp_path: Path, content: bytes, message: str) -> None:
    assert problem(tmp_path, content, read)[0] == message


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "huge.csv"
    with path.open("wb") as file:
        file.truncate(FILE_BYTES_MAX + 1)
    with pytest.raises(UsageError, match=r"huge\.csv: the file is larger than 64 MB"):
        read(path)
    with pytest.raises(UsageError, match=r"/dev/zero: the file is larger than 64 MB"):
        read(Path("/dev/zero"))


def test_a_file_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.txt: cannot read the file: no such file or directory"):
        read(tmp_path / "none.txt")
    with pytest.raises(UsageError, match=r"cannot read the file: is a directory"):
        read(tmp_path)


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://localhost:8080/a?b#c", "http://localhost:8080"),
        ("HTTP://Example.COM:80/", "http://example.com"),
        ("https://example.com:443", "https://example.com"),
        ("https://example.com:80", "https://example.com:80"),
        ("http://[::1]:81/", "http://[::1]:81"),
        ("http://host:port/", None),
        ("http://host:99999/", None),
        ("http://[::1/", None),
        ("ftp://host/", None),
        ("http:///path", None),
        ("/path", None),
    ],
)
def test_an_origin_has_one_spelling(url: str, origin: str | None) -> None:
    assert origin_of(url) == origin


# --- one request -----------------------------------------------------------------------------------------------------------------


def test_a_request_is_read_from_the_output_of_curl(tmp_path: Path) -> None:
    found = read_request(written(tmp_path, CURL), (), has_body=True)
    headers = {"Authorization": "Bearer secret", "content-type": "application/json"}
    assert found == Request(method="POST", path="/orders?x=1", headers=headers)


def test_a_request_over_http2_is_read_from_the_output_of_curl(tmp_path: Path) -> None:
    text = "* [HTTP/2] [1] [:method: GET]\n> GET /a HTTP/2\n> Host: h\n> Cookie: a=1\n> cookie: b=2\n> Accept: x\n> accept: y\n>\n"
    headers = {"Cookie": "a=1; b=2", "Accept": "x, y"}
    assert read_request(written(tmp_path, text), {"http://other"}) == Request(path="/a", headers=headers)


def test_a_request_is_read_from_a_file_of_an_editor(tmp_path: Path) -> None:
    found = read_request(written(tmp_path, HTTP_FILE), {"http://localhost:8080"})
    headers = {"Authorization": "Bearer t0ken", "Content-Type": "application/json"}
    assert found == Request(method="POST", path="/orders?x=1&y=2", headers=headers, body='{\n  "id": 1\n}')


@pytest.mark.parametrize(
    "text", ["/a", "GET /a", "\ufeffGET /a HTTP/1.1\r\nHost: h\r\n\r\n", "http://h/a", "### x\n\nGET http://h:80/a#top\n"]
)
def test_short_forms_of_a_request_are_the_same(tmp_path: Path, text: str) -> None:
    assert read_request(written(tmp_path, text), {"http://h"}) == Request(path="/a")


def test_a_template_keeps_its_variables(tmp_path: Path) -> None:
    found = read_request(written(tmp_path, "GET /{{id}}\nX-A: {b}\n"), (), is_template=True)
    assert (found.path, found.headers) == ("/{{id}}", {"X-A": "{b}"})


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (CURL, "file.txt:3:1: the request has a body, which curl -v does not print", "add it with --body TEXT or --body @FILE"),
        ("> GET /a HTTP/1.1\n> GET /b HTTP/1.1\n", "file.txt:2:1: a second request", "keep only the request in line 1"),
        ("> get /a HTTP/1.1\n", 'file.txt:1:3: the method "get" must consist of capital letters', None),
        ("> GET /ä HTTP/1.1\n", 'file.txt:1:8: the character "ä" must be percent-encoded', None),
        ("> GET a HTTP/1.1\n", 'file.txt:1:7: "a" is neither a path nor an http URL', "write /path or http://host/path"),
        ("> GET /a HTTP/1.1\n> no field\n", "file.txt:2:3: not a header field", "write it as Name: value"),
        ("> GET /a HTTP/1.1\n> A: \x01\n", 'file.txt:2:6: the header field "A" contains a control character', None),
        ("# nothing\n@a = 1\n", "file.txt: no request", "write it as GET /path, followed by header fields"),
        ("GET /a b c\n", 'file.txt:1:1: "GET /a b c" is not a request line', "write it as GET /path or GET http://host/path"),
        ("Get /a\n", 'file.txt:1:1: the method "Get" must consist of capital letters', None),
        ("{\n", 'file.txt:1:1: "{" is neither a path nor an http URL', "write /path or http://host/path"),
        ("GET /a\nno field\n", "file.txt:2:1: not a header field", "write it as Name: value"),
        ("GET /a\nX Y: 1\n", "file.txt:2:1: not a header field", "write it as Name: value"),
        ("GET /a\n\n###\n\nGET /b\n", "file.txt:5:1: a second request", "keep only the request in line 1"),
        (
            "\nGET /a\nX-A: {{token}}\n",
            "file.txt:3:6: {{token}} has no value",
            "define it with @token = VALUE, or give a column of this name with --data",
        ),
        (
            "GET {{host}}/a\n",
            "file.txt:1:5: {{host}} has no value",
            "define it with @host = VALUE, or give a column of this name with --data",
        ),
        ("POST /a\n\n< ./body.json\n", 'file.txt:3:1: "< ./body.json" is a command of an editor', "remove it; --body @FILE sends a file"),
        (
            "GET https://b:8443/a\n",
            "file.txt:1:5: the origin https://b:8443 is not http://a",
            "--origin https://b:8443 sends its requests to the measured server",
        ),
    ],
)
def test_a_wrong_request_is_reported(tmp_path: Path, text: str, message: str, hint: str | None) -> None:
    assert problem(tmp_path, text, lambda path: read_request(path, {"http://a"})) == (message, hint)


def test_a_wrong_header_is_not_quoted(tmp_path: Path) -> None:
    assert "secret" not in problem(tmp_path, "GET /a\nAuthorization secret\n", lambda path: read_request(path, ()))[0]


# --- URLs ------------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["Accept: a{}b", "Accept{}: b", "@name = a{}b", "@name{}x"])
@pytest.mark.parametrize("repeated", [" ", "\t ", "a", "{{", "{{a", "@a="])
def test_a_long_line_takes_time_in_proportion_to_its_length(tmp_path: Path, line: str, repeated: str) -> None:
    text = f"GET /\n{line.format(repeated * (100_000 // len(repeated)))}\n"
    begin = time.process_time()
    with suppress(UsageError):
        read_request(written(tmp_path, text, "file.http"), ())
    assert time.process_time() - begin < 2, "quadratic patterns take half a minute"


def test_urls_have_weights_and_equal_ones_are_added(tmp_path: Path) -> None:
    text = "\ufeff/a 3\r\nhttp://h/b?x=1#f\t1000\r\n\r\n  # comment\n/a\nhttp://h\n"
    assert read_urls(written(tmp_path, text), ()) == {"/a": 4, "/b?x=1": 1000, "/": 1}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("# only a comment\n", "file.txt: no URL"),
        ("/a\n  /b 0\n", 'file.txt:2:6: the weight "0" is not a whole number from 1 to 1000'),
        ("/a -1\n", 'file.txt:1:4: the weight "-1" is not a whole number from 1 to 1000'),
        ("/a 1.5\n", 'file.txt:1:4: the weight "1.5" is not a whole number from 1 to 1000'),
        ("/a 1001\n", 'file.txt:1:4: the weight "1001" is not a whole number from 1 to 1000'),
        ("/a b c\n", "file.txt:1:6: more than a URL and a weight"),
        ("/a 999\n/a 2\n", 'file.txt:2:4: the weights of "/a" add up to more than 1000'),
        ("/a\nb.html\n", 'file.txt:2:1: "b.html" is neither a path nor an http URL'),
        ("ftp://h/a\n", 'file.txt:1:1: "ftp://h/a" is neither a path nor an http URL'),
        ("/a\n/ü\n", 'file.txt:2:2: the character "ü" must be percent-encoded'),
        ("http://h/a\nhttp://h:81/b\n", "file.txt:2:1: the origin http://h:81 is not http://h"),
        ("/a\x1b[2J\n", 'file.txt:1:3: the character "\\u001b" must be percent-encoded'),
    ],
)
def test_wrong_urls_are_reported(tmp_path: Path, text: str, message: str) -> None:
    assert problem(tmp_path, text, lambda path: read_urls(path, ()))[0] == message


def test_urls_of_another_server_are_reported(tmp_path: Path) -> None:
    message, hint = problem(tmp_path, "/a\nhttps://b/c 2\n", lambda path: read_urls(path, {"http://a", "http://c"}))
    assert message == "file.txt:2:1: the origin https://b is not http://a or http://c"
    assert hint == "--origin https://b sends its requests to the measured server"
    assert read_urls(tmp_path / "file.txt", {"https://b"}) == {"/a": 1, "/c": 2}


# --- HAR -------------------------------------------------------------------------------------------------------------------------


def entry(url: str, status: int = 200, **request: Any) -> dict[str, Any]:
    return {"request": {"method": "GET", "url": url, "headers": [], **request}, "response": {"status": status}}


def har(*entries: Any) -> str:
    return json.dumps({"log": {"version": "1.2", "entries": entries}}, indent=1)


def test_requests_of_one_origin_are_read_from_a_recording(tmp_path: Path) -> None:
    headers = [{"name": ":path", "value": "/a"}, {"name": "Host", "value": "a"}, {"name": "cookie", "value": "x=1"}]
    post = {"mimeType": "application/json", "text": '{"ä": 1}'}
    form = {"mimeType": "application/x-www-form-urlencoded", "params": [{"name": "a", "value": "1 2"}]}
    text = har(
        entry("http://a/a?x=1", headers=headers),
        entry("http://b/"),
        entry("http://a/a?x=1", headers=headers),
        entry("http://a/moved", 302),
        entry("http://a/post", 201, method="POST", postData=post),
        entry("http://a/form", method="POST", postData=form),
        entry("http://a/file", method="POST", postData={"mimeType": "multipart/form-data", "params": []}),
        entry("http://a/aborted", 0),
        entry("ws://a/socket", 101),
        entry("data:text/plain,x"),
    )
    recording = read_har(written(tmp_path, text), ())
    found = [(each.weight, each.request, each.expect and each.expect.status) for each in recording.requests]
    assert found == [
        (2, Request(path="/a?x=1", headers={"cookie": "x=1"}), None),
        (1, Request(path="/moved"), 302),
        (1, Request(method="POST", path="/post", body='{"ä": 1}'), None),
        (1, Request(method="POST", path="/form", body="a=1+2"), None),
    ]
    assert recording.left_out == {"to other origins": 1, "without their body": 1, "without a response": 1, "not over HTTP": 2}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("<html>", "file.txt:1:1: not JSON: Expecting value"),
        ('{"log":\n {"entries": [}', "file.txt:2:15: not JSON: Expecting value"),
        ("[" * 100_000, "file.txt:1:1: not JSON: nested too deeply"),
        ('{"a": 1' + "0" * 5000 + "}", "file.txt:1:1: not JSON: a number with thousands of digits"),
        ("[]", "file.txt:1:1: not a HAR export: it has no log.entries"),
        ('{"log": {"entries": []}}', "file.txt:1:1: not a HAR export: it has no log.entries"),
        (har(1), "file.txt:5:4: request 1: no text at request.url"),
        (har(entry("http://a/"), {"request": {"url": 1}}), "file.txt:15:4: request 2: no text at request.url"),
        (har(entry("http://a/", method="get")), 'file.txt:5:4: request 1: the method "get" must consist of capital letters'),
        (har(entry("http://a/ä")), 'file.txt:5:4: request 1: the character "ä" must be percent-encoded'),
        (har(entry("http://a/", 999)), 'file.txt:5:4: request 1: the status "999" is not a number from 100 to 599'),
        (har(entry("http://a/", headers=1)), "file.txt:5:4: request 1: no list at request.headers"),
        (har(entry("http://a/", headers=[{"name": "a"}])), "file.txt:5:4: request 1: no text at value"),
        (
            har(entry("http://a/", headers=[{"name": "a", "value": "b\r\nc: d"}])),
            'file.txt:5:4: request 1: the header field "a" contains a control character',
        ),
        (
            har(entry("http://a/", headers=[{"name": "a b", "value": ""}])),
            'file.txt:5:4: request 1: "a b" is not the name of a header field',
        ),
        (
            har(entry("http://a/", method="POST", postData={"text": "\ud800"})),
            'file.txt:5:4: request 1: "\\ud800" is half of a character (a lone surrogate)',
        ),
        (
            har(entry("http://b/"), entry("http://b/"), entry("http://c/")),
            "file.txt: no request to http://a; recorded: http://b (2), http://c (1)",
        ),
        (har(entry("ws://a/")), "file.txt: no request to http://a; recorded: none"),
    ],
)
def test_a_wrong_recording_is_reported(tmp_path: Path, text: str, message: str) -> None:
    assert problem(tmp_path, text, lambda path: read_har(path, {"http://a"}))[0] == message
