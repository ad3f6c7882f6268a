"""Tests of loads at shares of each target's own peak, with a proxy that serves at most 200 requests/s, 20 ms after each."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.harness import TARGETS, Harness

LIMITED, HAPROXY = "proxy:test/limited", "proxy:c/haproxy-http"
PEAK_RPS, OCCUPIED_US = 200, 20_000
TOLERANCE = 0.15
LOAD = ("--workload", "proxy-100b", "-c", "16", "-d", "1s", "--warmup", "500ms", "--rounds", "1")


def measured(harness: Harness, target: str, shares: str) -> dict[tuple[str, float | None], dict[str, Any]]:
    """Return the results by target and share. Those without a share are of the closed loop."""
    words = ("bench", "--targets", str(TARGETS), target, "--shares-of-peak", shares, *LOAD, "--export-json", "-")
    done = harness.run(*words)
    assert done.stdout, done.stderr
    return {(found["target"], found["load"]["share_of_peak"]): found for found in json.loads(done.stdout)["results"]}


@pytest.mark.alone
def test_a_proxy_with_a_known_peak_has_the_known_rates_goodput_and_latency(harness: Harness) -> None:
    found = measured(harness, LIMITED, "50%,150%")
    peak_rps = found[LIMITED, None]["summary"]["throughput_rps"]["median"]
    assert peak_rps == pytest.approx(PEAK_RPS, rel=TOLERANCE)
    for target, share in ((LIMITED, 0.5), ("baseline", 0.5), (LIMITED, 1.5)):
        load = found[target, share]["load"]
        assert load["rate_rps"] == pytest.approx(share * peak_rps, rel=0.005) and load["peak_of"] == LIMITED
    half, overload = found[LIMITED, 0.5], found[LIMITED, 1.5]
    assert OCCUPIED_US * 0.95 < half["overhead"]["p50"]["us"] < OCCUPIED_US * 2, half["overhead"]
    assert ("baseline", 1.5) not in found and overload["overhead"] == {}
    assert overload["load"]["connections"] == 1000
    assert overload["summary"]["throughput_rps"]["median"] == pytest.approx(PEAK_RPS, rel=TOLERANCE), "the goodput is the peak"
    assert overload["summary"]["verdict"]["kind"] not in ("invalid", "failed")
    shown = harness.run("report", "latest", "--explain").stdout
    assert "offered 50% of each target's own peak" in " ".join(shown.split())
    assert "Goodput: correct responses/s above the peak." in shown


@pytest.mark.slow
def test_the_rate_of_a_real_proxy_is_the_share_of_its_measured_peak(harness: Harness) -> None:
    found = measured(harness, HAPROXY, "50%")
    peak_rps = found[HAPROXY, None]["summary"]["throughput_rps"]["median"]
    for target in (HAPROXY, "baseline"):
        half = found[target, 0.5]
        assert half["load"]["rate_rps"] == pytest.approx(peak_rps / 2, rel=0.005)
        assert half["rounds"][0]["slices"] == 10, "the proxy and the backend take turns"
        command = half["rounds"][0]["commands"]["load"]
        assert float(command[command.index("--rate") + 1]) == half["load"]["rate_rps"] and "poisson" in command
