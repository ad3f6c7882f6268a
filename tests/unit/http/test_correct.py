"""Tests that all problems with a response are found."""

from __future__ import annotations

from httpbench.http.correct import problems
from httpbench.http.response import Response
from httpbench.model import Expectation


def test_all_problems_of_a_response_are_listed() -> None:
    headers = (("Content-Type", "text/html; charset=utf-8"), ("Content-Length", "4"))
    expect = Expectation(status=200, body="hello", content_type="text/plain", headers=("Date",))
    assert problems(Response(404, headers, b"hell", size_bytes=90), b"o", expect) == [
        "status 404 instead of 200",
        "Content-Type `text/html` instead of `text/plain`",
        "no Date header",
        "body `hell` instead of `hello`",
        "1 bytes after the end of the response: `o`",
    ]
