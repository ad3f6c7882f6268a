"""Tests of a warm-up until throughput is steady, with a real server and the real load generator. They don't check performance."""

from __future__ import annotations

import json

import pytest

from tests.harness import Harness

pytestmark = pytest.mark.alone


def test_a_warm_up_keeps_its_series_and_its_time_limit(harness: Harness) -> None:
    done = harness.bench("c/epoll/edge", "--warmup-max", "4s", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert "warm-up until steady, 1.6 to 4 s" in done.stderr
    (result,) = json.loads(done.stdout)["results"]
    settling = result["rounds"][0]["settling"]
    windows = len(settling["throughput_rps"])
    assert (settling["window_s"], 0 < windows <= 40) == (0.1, True)
    assert settling["is_steady"] == (result["rounds"][0]["unsteady"] is None)
    assert any(settling["throughput_rps"])


def test_a_given_warm_up_has_that_length(harness: Harness) -> None:
    done = harness.bench("c/epoll/edge", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["rounds"][0]["settling"] is None


def test_a_time_limit_too_short_to_become_steady_is_refused(harness: Harness) -> None:
    refused = harness.bench("c/epoll/edge", "--warmup-max", "1s")
    assert (refused.returncode, "warmup_max_s must be at least 1.5 s more than warmup_s" in refused.stderr) == (2, True)
