"""Tests of proxies in front of two backends, one of which fails.

The test proxy alternates between its backends, so half of the requests fail until it avoids the failed backend. That is 1 s after the first
failed request, or never. A dead backend lets requests fail at once, a stalled one after 0.3 s. The proxy uses a backend again 0.5 s after
it has responded to a check.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import TARGETS, Harness

PROXY = "proxy:test/failing-over"
RATE_RPS, FAULT_S = 200, 4
PROXY_TIMEOUT_S = 0.3
FAILS_AFTER_S = {"death": 0.0, "stall": PROXY_TIMEOUT_S}
"""Time after which a request to a failed backend fails."""


def measured(harness: Harness, variant: str, *words: str) -> dict[str, dict[str, Any]]:
    """Return the only round of each fault."""
    load = ("--rate", str(RATE_RPS), "-c", "128", "--rounds", "1", *words)
    done = harness.run(
        "bench", "--targets", str(TARGETS), "--suite", "http-proxies-failover", f"{PROXY}/{variant}", *load, "--export-json", "-"
    )
    assert done.stdout, done.stderr
    return {found["load"]["fault"]: found["rounds"][0] for found in json.loads(done.stdout)["results"]}


@pytest.mark.alone
def test_the_figures_of_a_proxy_that_avoids_a_failed_backend_are_true(harness: Harness) -> None:
    for fault, trial in measured(harness, "after-1s", "--scale", "0.5").items():
        found, fails_s = trial["failover"], FAILS_AFTER_S[fault]
        assert found["returned_at_s"] - found["failed_at_s"] == pytest.approx(FAULT_S, abs=0.4)
        # Requests that wait when the proxy begins to avoid the backend fail later, and an interval lasts 0.1 s.
        assert found["avoided"] and found["avoided_s"] == pytest.approx(1.0 + 2 * fails_s + 0.05, abs=0.1), trial
        assert found["failed"] == pytest.approx(RATE_RPS / 2 * (1.0 + fails_s), abs=6), trial
        assert found["used_again"] and found["used_again_s"] == pytest.approx(0.5, abs=0.15), trial


@pytest.mark.alone
def test_a_proxy_that_never_avoids_a_failed_backend_has_lower_bounds(harness: Harness) -> None:
    for fault, trial in measured(harness, "never", "--scale", "0.5").items():
        found = trial["failover"]
        assert not found["avoided"] and found["avoided_s"] == pytest.approx(FAULT_S, abs=0.4), trial
        assert found["failed"] == pytest.approx(RATE_RPS / 2 * (found["avoided_s"] - FAILS_AFTER_S[fault]), abs=12), trial
        assert found["used_again"] and found["used_again_s"] < 0.3, trial


@pytest.mark.alone
def test_a_failing_backend_is_measured_and_shown(harness: Harness) -> None:
    trials = measured(harness, "after-1s", "--scale", "0.3", "-d", "4500ms")
    assert set(trials) == {"stall", "death"}
    for trial in trials.values():
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        assert trial["failover"]["failed"] > 0 and trial["failover"]["failed"] == trial["measurement"]["errors"]["unexpected_status"]
        assert trial["backend_requests"] >= trial["measurement"]["requests"]["ok"], "those of both backends"
    shown = harness.run("report", "latest", "--explain").stdout
    assert "one of two backends stalls for 2.4 s" in shown and "one of two backends is dead for 2.4 s" in shown
    assert "Used again after: from the return" in shown


@pytest.mark.alone
def test_a_proxy_that_uses_only_one_backend_has_no_result(harness: Harness) -> None:
    for trial in measured(harness, "one-of-two", "--scale", "0.3", "-d", "4500ms").values():
        assert trial["verdict"]["kind"] == "invalid"
        assert "the proxy sent only 0% of the requests to the second backend before it failed" in trial["verdict"]["reasons"]


def test_a_proxy_without_a_second_backend_is_left_out(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "http-proxies-failover", "proxy:c/haproxy", "--dry-run")
    assert done.returncode == 2
    assert "skipped two backends of proxy:c/haproxy: not declared in its target.toml" in done.stderr


def test_another_load_generator_is_refused(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "http-proxies-failover", "proxy:c/nginx", "--load-generator", "wrk", "--dry-run")
    assert done.returncode == 2
    assert "wrk does not count slow responses" in done.stderr
