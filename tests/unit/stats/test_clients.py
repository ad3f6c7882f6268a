"""Equal work, and the figures of clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.stats.clients import relative, summarise_clients
from httpbench.stats.equal_work import Told, unequal
from tests.factories import make_client, make_work

TOLD = Told(requests=1000, body_bytes=12, reconnects=False)


def test_equal_work_has_no_reason() -> None:
    assert unequal(TOLD, make_work(), "1000 12000\n") == {}
    assert unequal(Told(1000, 12, reconnects=True), make_work(connections=1000), "1000 12000\n") == {}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"requests": 999, "body_bytes_sent": 11_988}, "sent 999 requests instead of 1,000"),
        ({"requests": 1, "body_bytes_sent": 12}, "sent 1 request instead of 1,000"),
        ({"in_flight_max": 10}, "had 10 requests in flight at once instead of one after the other"),
        ({"pipelined": 999}, "sent 999 requests before the answer to the one before had come"),
        ({"connections": 1000}, "opened 1,000 connections instead of 1"),
        ({"connections": 2}, "opened 2 connections instead of 1"),
        ({"wrong_requests": 1}, "sent 1 wrong request (not GET, another path, or not HTTP)"),
        ({"body_bytes_sent": 11_000}, "took 11,000 bytes of bodies instead of 12,000"),
    ],
)
def test_what_was_otherwise_is_the_one_reason(changes: dict[str, int], reason: str) -> None:
    assert list(unequal(TOLD, make_work(**changes), "1000 12000").values()) == [reason]


def test_what_it_printed_is_checked() -> None:
    assert unequal(TOLD, make_work(), "1000 11000") == {"printed": "printed «1000 11000» instead of «1000 12000»"}
    assert "printed «»" in unequal(TOLD, make_work(), "")["printed"]


def test_where_the_server_closes_one_connection_is_not_equal_work() -> None:
    assert unequal(Told(1000, 12, reconnects=True), make_work(), "1000 12000")["connections"] == "opened 1 connection instead of 1,000"


def test_startup_is_taken_off() -> None:
    one = make_client(wall_s=0.6, startup_s=0.1, cpu_s=0.1)
    assert one.requests_rps == pytest.approx(2000)
    assert one.cpu_us_per_request == pytest.approx(100)
    assert make_client(wall_s=0.1, startup_s=0.2).requests_rps is None


def test_mean_and_deviation_are_hyperfines() -> None:
    found = summarise_clients([make_client(wall_s) for wall_s in (1.0, 2.0, 3.0)])
    assert found is not None
    assert (found.mean_s, found.stddev_s, found.median_s, found.min_s, found.max_s) == (2.0, 1.0, 2.0, 1.0, 3.0)
    assert summarise_clients([]) is None
    single = summarise_clients([make_client(1.0)])
    assert single is not None
    assert single.stddev_s is None


def test_relative_is_hyperfines() -> None:
    fast = summarise_clients([make_client(wall_s) for wall_s in (0.9, 1.0, 1.1)])
    slow = summarise_clients([make_client(wall_s) for wall_s in (1.8, 2.0, 2.2)])
    assert fast is not None
    assert slow is not None
    found = relative(slow, fast)
    assert found.ratio == pytest.approx(2)
    assert found.stddev == pytest.approx(2 * (0.1**2 + 0.1**2) ** 0.5)
    assert relative(fast, fast).stddev is None


@given(st.lists(st.floats(0.001, 1000), min_size=2, max_size=20))
def test_the_mean_lies_within_what_was_seen(times_s: list[float]) -> None:
    found = summarise_clients([make_client(wall_s) for wall_s in times_s])
    assert found is not None
    assert found.min_s <= found.mean_s * (1 + 1e-9)
    assert found.mean_s <= found.max_s * (1 + 1e-9)
