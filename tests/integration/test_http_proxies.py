"""Tests of HTTP proxies: those that respond from memory, lose requests or change responses get no result."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.harness import TARGETS, Harness, results

RELAYING = "proxy:test/http-relaying"
OF_TESTS = ("--targets", str(TARGETS))
LOAD = ("--workload", "proxy-10kb", "-c", "8", "-d", "1s", "--timeout", "5s", "--export-json", "-")
CHEATS = {
    "caches": "the proxy responded without it",
    "drops": "requests failed",
    "rewrites": "the proxy removed or changed headers: `Content-Type: text/plain`",
    "rewrites-bodies": "bytes were lost, changed or invented between backend and load generator",
}
"""Ways in which the proxy of the tests cheats, and the reason why it then has no result."""


def only_round(done: subprocess.CompletedProcess[str], target: str) -> dict[str, Any]:
    (trial,) = results(done)[target]["rounds"]
    return dict(trial)


@pytest.mark.slow
def test_verify_passes_an_honest_proxy_and_reports_its_ambiguous_requests(harness: Harness) -> None:
    done = harness.run("verify", *OF_TESTS, f"{RELAYING}/good")
    assert done.returncode == 0 and "✗" not in done.stdout, done.stdout
    found = re.search(r"ambiguous requests: (\d+) rejected, (\d+) normalized.*, (\d+) forwarded \(cl-te, te-cl, ", done.stdout)
    assert found is not None, "this proxy forwards fields without looking at them"
    assert sum(map(int, found.groups())) == 20


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "problem"),
    [
        ("caches", r"✗ asks the backend for each of them: the backend handled \d+ requests for [\d,]+ responses"),
        (
            "revalidates",
            r"✗ asks the backend for each response: .*still current \(if-modified-since, if-none-match\)",
        ),
        ("rewrites-bodies", r"✗ relays 10,000 responses .*: [\d,]+ of [\d,]+ requests failed \(unexpected body"),
    ],
)
def test_verify_finds_a_proxy_that_cheats(harness: Harness, mode: str, problem: str) -> None:
    done = harness.run("verify", *OF_TESTS, f"{RELAYING}/{mode}")
    assert done.returncode == 1
    assert re.search(problem, done.stdout), done.stdout


@pytest.mark.slow
def test_an_honest_proxy_is_measured_with_its_baseline_ten_times_of_ten(harness: Harness) -> None:
    found = results(harness.bench(f"{RELAYING}/good", *LOAD, "-d", "300ms", "--rounds", "10"))
    assert set(found) == {"baseline", f"{RELAYING}/good"}
    for result in found.values():
        assert len(result["rounds"]) == 10
        assert not [trial["verdict"] for trial in result["rounds"] if trial["verdict"]["kind"] in ("invalid", "failed")]
    for trial in found[f"{RELAYING}/good"]["rounds"]:
        requests = trial["measurement"]["requests"]
        assert trial["backend_requests"] >= requests["ok"] + requests["before_window"]
    assert found[f"{RELAYING}/good"]["overhead"]["p50"]["us"] > 0


@pytest.mark.slow
def test_proxies_that_cheat_have_no_result(harness: Harness) -> None:
    """A proxy that asks whether its copy is current has one: the backend sends it whole responses, so its requests prove its work.

    The load takes longer than the timeout, so that lost requests time out before its end.
    """
    modes = (*CHEATS, "revalidates")
    done = harness.bench(*(f"{RELAYING}/{mode}" for mode in modes), *LOAD, "-d", "2s", "--timeout", "1s", "--interleave", "rounds")
    assert done.returncode == 1
    for mode, reason in CHEATS.items():
        result = results(done)[f"{RELAYING}/{mode}"]
        assert result["verdict"]["kind"] == "invalid" and result["summary"]["throughput_rps"] is None, result["verdict"]
        assert any(reason in told for told in result["verdict"]["reasons"]), result["verdict"]
        assert result["overhead"] == {}
    assert only_round(done, "baseline")["verdict"]["kind"] != "invalid"
    trial = only_round(done, f"{RELAYING}/revalidates")
    assert trial["verdict"]["kind"] not in ("invalid", "failed")
    assert trial["backend_requests"] >= trial["measurement"]["requests"]["ok"]


@pytest.mark.slow
@pytest.mark.parametrize("interleave", ["rounds", "slices"])
@pytest.mark.parametrize("transport", [("--tls",), ("--tls", "--http2")], ids=["tls", "http2"])
def test_the_baseline_of_https_and_http2_serves_them_itself(harness: Harness, transport: tuple[str, ...], interleave: str) -> None:
    words = ("proxy:c/nginx", *LOAD, "--warmup", "200ms", *transport, "--interleave", interleave)
    done = harness.bench(*words)
    for target in ("baseline", "proxy:c/nginx"):
        trial = only_round(done, target)
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        assert trial["measurement"]["tls_handshakes"]["full"] >= 8, trial["measurement"]["tls_handshakes"]
    proxied = only_round(done, "proxy:c/nginx")
    assert proxied["backend_requests"] >= proxied["measurement"]["requests"]["ok"]


def test_a_suite_measures_https_and_http2_where_a_proxy_declares_them(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "http-proxies", "--dry-run", "c/nginx")
    assert done.returncode == 0 and "baseline" in done.stdout, done.stderr
