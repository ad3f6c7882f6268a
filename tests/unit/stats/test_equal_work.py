"""Tests that clients whose work differs from the required work are detected."""

from __future__ import annotations

import pytest

from httpbench.model import WorkDone
from httpbench.report.words.reasons import sentence
from httpbench.stats.equal_work import Told
from httpbench.stats.equal_work import unequal as differences
from tests.factories import make_work

TOLD = Told(requests=1000, body_bytes=12, reconnects=False)


def unequal(told: Told, done: WorkDone, printed: str) -> list[str]:
    """Return what a client did differently, in words."""
    return [sentence(reason) for reason in differences(told, done, printed).values()]


def test_equal_work_has_no_reason() -> None:
    assert unequal(TOLD, make_work(), "1000 12000\n") == []
    assert unequal(Told(1000, 12, reconnects=True), make_work(connections=1000), "1000 12000\n") == []


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"requests": 999, "body_bytes_sent": 11_988}, "sent 999 requests instead of 1,000"),
        ({"requests": 1, "body_bytes_sent": 12}, "sent 1 request instead of 1,000"),
        ({"in_flight_max": 10}, "had 10 requests in flight at once instead of one after the other"),
        ({"pipelined": 999}, "sent 999 requests before the previous response had arrived"),
        ({"connections": 1000}, "opened 1,000 connections instead of 1"),
        ({"connections": 2}, "opened 2 connections instead of 1"),
        ({"wrong_requests": 1}, "sent 1 wrong request (not GET, another path, or not HTTP)"),
        ({"body_bytes_sent": 11_000}, "received 11,000 bytes of bodies instead of 12,000"),
    ],
)
def test_each_difference_has_its_own_reason(changes: dict[str, int], reason: str) -> None:
    assert unequal(TOLD, make_work(**changes), "1000 12000") == [reason]


def test_the_clients_output_is_checked() -> None:
    assert unequal(TOLD, make_work(), "1000 11000") == ['printed "1000 11000" instead of "1000 12000"']
    assert unequal(TOLD, make_work(), "") == ['printed "" instead of "1000 12000"']


def test_a_single_connection_is_wrong_if_the_server_closes_each() -> None:
    assert unequal(Told(1000, 12, reconnects=True), make_work(), "1000 12000") == ["opened 1 connection instead of 1,000"]
