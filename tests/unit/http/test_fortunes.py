"""Tests of the page of fortunes: correct pages pass, and cheats are detected."""

from __future__ import annotations

import html
from collections.abc import Callable, Sequence

import pytest

from httpbench.http.correct import problems
from httpbench.http.fortunes import ADDED, MESSAGES, ROWS, page_problems
from httpbench.http.response import Response
from httpbench.model import Expectation, Rule


def page(rows: Sequence[tuple[int, str]] = ROWS, escape: Callable[[str], str] = html.escape, between: str = "") -> str:
    cells = between.join(f"<tr><td>{number}</td><td>{escape(message)}</td></tr>" for number, message in rows)
    return (
        "<!DOCTYPE html><html><head><title>Fortunes</title></head><body><table>"
        f"<tr><th>id</th><th>message</th></tr>{cells}</table></body></html>"
    )


def test_rows_are_sorted_by_message() -> None:
    assert [number for number, _ in ROWS] == [11, 4, 5, 2, 8, 0, 3, 7, 10, 6, 9, 1, 12]


@pytest.mark.parametrize(
    "text",
    [
        page(),
        page(between="\n    "),
        page(escape=lambda message: html.escape(message, quote=False)),
        page(escape=lambda message: "".join(f"&#{ord(letter)};" for letter in message)),
        page(escape=lambda message: html.escape(message).replace("—", "&mdash;").replace("/", "&#x2F;")),
        page().replace("<head>", '<head><meta charset="utf-8"><link rel="stylesheet" href="/x.css"><script>var a = "<td>";</script>'),
        page().replace("<table>", '<table class="t"><thead>').replace("</th></tr>", "</th></tr></thead><tbody>", 1),
        page().replace("<td>", "<TD>").replace("<!DOCTYPE", "<!doctype"),
    ],
)
def test_whitespace_attributes_and_the_form_of_escapes_are_free(text: str) -> None:
    assert page_problems(text.encode()) == []


def test_a_page_without_escapes_is_detected() -> None:
    assert page_problems(page(escape=str).encode()) == ["fortune 11 is not escaped: a browser would run its message as a script"]


def test_a_page_prepared_before_the_request_lacks_the_added_row() -> None:
    assert page_problems(page([row for row in ROWS if row != ADDED]).encode()) == ["no correct row 0"]


def test_unsorted_rows_are_detected() -> None:
    assert page_problems(page([*MESSAGES.items(), ADDED]).encode()) == ["rows that are not sorted by message"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "a page that does not begin with <!doctype html>"),
        (page().replace("<!DOCTYPE html>", ""), "a page that does not begin with <!doctype html>"),
        (page().replace("Fortunes", "Fortune"), "a title other than `Fortunes`"),
        (page().replace("<th>id", "<th>Id"), "headings other than id and message"),
        (page().replace("<body>", "<body><p>"), "unexpected in the page: p"),
        (page().replace("<body>", "<body>more"), "unexpected in the page: text outside the table"),
        (page().replace("<table>", "<table></table><table>"), "a page that is not one table in html, head, title and body"),
        (page([*ROWS, (13, "One more")]), "1 rows that are not fortunes"),
        (page([*ROWS, ROWS[0]]), "14 rows instead of 13"),
        (page([(13, "x") if number == 9 else (number, message) for number, message in ROWS]), "no correct row 9"),
        (page(escape=lambda message: html.escape(html.escape(message))), "no correct row 11, 2"),
        (page(escape=lambda message: html.escape(message.encode("ascii", "replace").decode())), "no correct row 8, 6, 12"),
    ],
)
def test_problems_of_a_page_are_reported(text: str, problem: str) -> None:
    assert problem in page_problems(text.encode())


def test_a_page_must_be_utf_8_and_declare_it() -> None:
    response = Response(200, (("Content-Type", "text/html"),), page().encode(), size_bytes=0)
    assert problems(response, b"", Expectation(rule=Rule.FORTUNES)) == ["Content-Type without charset=utf-8"]
    assert page_problems(page().encode("utf-16")) == ["a page that is not UTF-8"]
