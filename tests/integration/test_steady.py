"""A test of a warm-up until throughput is steady, with a real server and the real load generator. It doesn't check performance."""

from __future__ import annotations

import json

import pytest

from tests.harness import Harness

pytestmark = pytest.mark.slow


def test_a_warm_up_keeps_its_series_and_its_time_limit(harness: Harness) -> None:
    done = harness.bench("c/epoll/edge", "--warmup-max", "2s", "-d", "1s", "--timeout", "5s", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert "warm-up until steady, 1.6 to 2 s" in done.stderr
    (result,) = json.loads(done.stdout)["results"]
    settling = result["rounds"][0]["settling"]
    windows = len(settling["throughput_rps"])
    assert (settling["window_s"], 0 < windows <= 20) == (0.1, True)
    assert settling["is_steady"] == (result["rounds"][0]["unsteady"] is None)
    assert any(settling["throughput_rps"])
