"""Tests of statistics of clients."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from httpbench.stats.clients import summarize_clients
from tests.factories import make_client


def test_startup_time_is_subtracted() -> None:
    one = make_client(wall_s=0.6, startup_s=0.1, cpu_s=0.1)
    assert one.requests_rps == pytest.approx(2000)
    assert one.cpu_us_per_request == pytest.approx(100)
    assert make_client(wall_s=0.1, startup_s=0.2).requests_rps is None


def test_mean_and_deviation_match_hyperfine() -> None:
    found = summarize_clients([make_client(wall_s) for wall_s in (1.0, 2.0, 3.0)])
    assert found is not None
    assert (found.mean_s, found.stddev_s, found.median_s, found.min_s, found.max_s) == (2.0, 1.0, 2.0, 1.0, 3.0)
    assert summarize_clients([]) is None
    single = summarize_clients([make_client(1.0)])
    assert single is not None
    assert single.stddev_s is None


@given(st.lists(st.floats(0.001, 1000), min_size=2, max_size=20))
def test_the_mean_lies_between_minimum_and_maximum(times_s: list[float]) -> None:
    found = summarize_clients([make_client(wall_s) for wall_s in times_s])
    assert found is not None
    assert found.min_s <= found.mean_s * (1 + 1e-9)
    assert found.mean_s <= found.max_s * (1 + 1e-9)
