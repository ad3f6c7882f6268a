"""Tests that bodies are checked against the published rules of TechEmpower and HttpArena."""

from __future__ import annotations

import json
from typing import Any

import pytest

from httpbench.http.correct import problems
from httpbench.http.response import Response
from httpbench.model import Expectation, Rule


def of(rule: Rule, body: bytes | str | Any, rows: int | None = None, content_type: str = "application/json", factor: int = 1) -> list[str]:
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    expect = Expectation(rule=rule, rows=rows, factor=factor)
    return problems(Response(200, (("Content-Type", content_type),), data, size_bytes=0), b"", expect)


@pytest.mark.parametrize("body", [b'{"message":"Hello, World!"}', b' { "Message" : "hello, world!" }\n'])
def test_a_message_may_have_any_whitespace_and_case(body: bytes) -> None:
    assert of(Rule.JSON_MESSAGE, body) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        (b"", "the body `` is not JSON"),
        (b"{message: 1}", "the body `{message: 1}` is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        ([], "`[]` is not a JSON object"),
        ({"text": "Hello, World!"}, "an object with the keys text instead of only message"),
        ({"message": "Hello, World!", "id": 1}, "an object with the keys message, id instead of only message"),
        ({"message": "Hello, Wörld!"}, 'message `"Hello, Wörld!"` instead of `Hello, World!`'),
        ({"message": None}, "message `null` instead of `Hello, World!`"),
    ],
)
def test_problems_of_a_message_are_reported(body: Any, problem: str) -> None:
    (found,) = of(Rule.JSON_MESSAGE, body)
    assert problem in found


def test_the_keys_of_a_row_may_have_any_case() -> None:
    assert of(Rule.WORLD, {"id": 1, "randomNumber": 10_000}) == of(Rule.WORLD, {"ID": 10_000, "randomnumber": 1}) == []


@pytest.mark.parametrize(
    ("body", "problem"),
    [
        ([{"id": 1, "randomNumber": 2}], "is not a JSON object"),
        ({"id": 1}, "an object with the keys id instead of id and randomNumber"),
        ({}, "an object with the keys (none) instead of id and randomNumber"),
        ({"id": 1, "randomNumber": 2, "name": 3}, "an object with the keys id, randomNumber, name instead of"),
        ({"id": 1, "ID": 1, "randomNumber": 2}, "an object with the keys id, ID, randomNumber instead of"),
        ({"id": 0, "randomNumber": 1}, "id `0` is not a whole number from 1 to 10,000"),
        ({"id": "5", "randomNumber": 1}, 'id `"5"` is not a whole number'),
        ({"id": True, "randomNumber": 1}, "id `true` is not a whole number"),
        ({"id": 1, "randomNumber": 10_001}, "randomNumber `10001` is not a whole number from 1 to 10,000"),
        ({"id": 1, "randomNumber": 1.5}, "randomNumber `1.5` is not a whole number"),
    ],
)
def test_problems_of_a_row_are_reported(body: Any, problem: str) -> None:
    (found,) = of(Rule.WORLD, body)
    assert problem in found


def test_an_array_has_the_requested_number_of_rows() -> None:
    row = {"id": 1, "randomNumber": 1}
    assert of(Rule.WORLDS, [row] * 3, rows=3) == []
    assert of(Rule.WORLDS, [row] * 2, rows=3) == ["2 rows instead of 3"]
    assert of(Rule.WORLDS, row, rows=1) == ['`{"id": 1, "randomNumber": 1}` is not a JSON array']


def test_only_the_first_problems_of_many_rows_are_listed() -> None:
    found = of(Rule.WORLDS, [{"id": 0, "randomNumber": 1}] * 9, rows=9)
    assert len(found) == 4
    assert found[0].startswith("row 1: id `0`")
    assert found[-1] == "6 more problems with rows"


@pytest.mark.parametrize("body", [b"Hello, World!", b"hello, world!"])
def test_a_text_may_have_any_case(body: bytes) -> None:
    assert of(Rule.TEXT_MESSAGE, body) == []


def test_a_wrong_text_is_quoted() -> None:
    assert of(Rule.TEXT_MESSAGE, b"Hello, World!\n") == ["body `Hello, World!\\n` instead of `Hello, World!`, in any case"]


ITEMS: list[Any] = [{"id": n, "price": n, "quantity": 2, "total": 12 * n} for n in range(1, 6)]


def test_items_have_totals_and_a_count() -> None:
    assert of(Rule.ITEMS, {"items": ITEMS, "count": 5}, rows=5, factor=6) == []


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ([], ["`[]` is not a JSON object with an array of items"]),
        ({"items": 3, "count": 3}, ['`{"items": 3, "count": 3}` is not a JSON object with an array of items']),
        ({"items": [], "count": 5}, ["0 items instead of 5", "count `5` instead of 0"]),
        ({"items": ITEMS}, ["count `null` instead of 5"]),
        ({"items": [*ITEMS[:4], {"price": 1, "quantity": 1, "total": 1}], "count": 5}, ["item 5: total `1` instead of `6`"]),
        (
            {"items": [*ITEMS[:4], {"price": True, "quantity": 1, "total": 6}], "count": 5},
            ['item 5: `{"price": true, "quantity": 1, "total": 6}` is not a JSON object with price, quantity and total'],
        ),
    ],
)
def test_problems_of_items_are_reported(body: Any, found: list[str]) -> None:
    assert of(Rule.ITEMS, body, rows=5, factor=6) == found


def test_only_the_first_problems_of_items_are_listed() -> None:
    found = of(Rule.ITEMS, {"items": [{}] * 5, "count": 5}, rows=5)
    assert (len(found), found[-1]) == (4, "2 more problems with items")
