"""Tests of TCP proxies that cheat: one that responds from memory, shares connections or changes heads gets no result."""

from __future__ import annotations

import pytest

from tests.harness import Harness, results

RELAYING = "proxy:test/relaying"


def test_a_proxy_that_responds_from_memory_has_no_result(harness: Harness) -> None:
    done = harness.bench(f"{RELAYING}/remembers", "--workload", "proxy-10kb", "-c", "8", "-d", "1s", "--export-json", "-")
    result = results(done)[f"{RELAYING}/remembers"]
    assert result["verdict"]["kind"] == "invalid", result["verdict"]
    assert any("the proxy responded without it" in reason for reason in result["verdict"]["reasons"]), result["verdict"]
    (baseline,) = results(done)["baseline"]["rounds"]
    assert baseline["verdict"]["kind"] != "invalid"


@pytest.mark.alone
@pytest.mark.parametrize("interleave", ["rounds", "slices"])
def test_a_proxy_that_shares_connections_to_its_backend_has_no_result(harness: Harness, interleave: str) -> None:
    load = ("--workload", "proxy-10kb", "-c", "8", "-d", "1s", "--warmup", "200ms", "--timeout", "10s", "--interleave", interleave)
    found = results(harness.bench(f"{RELAYING}/pools", f"{RELAYING}/good", *load, "--export-json", "-"))
    verdict = found[f"{RELAYING}/pools"]["verdict"]
    assert verdict["kind"] == "invalid", verdict
    said = "; ".join(verdict["reasons"])
    assert "connections for 8 of the load generator: the proxy did not relay each of them" in said
    assert found[f"{RELAYING}/good"]["verdict"]["kind"] not in ("invalid", "failed")


def test_a_proxy_that_changes_heads_has_no_result(harness: Harness) -> None:
    done = harness.bench(f"{RELAYING}/renames", "--workload", "proxy-10kb", "-c", "8", "-d", "1s", "--export-json", "-")
    result = results(done)[f"{RELAYING}/renames"]
    assert result["verdict"]["kind"] == "invalid", result["verdict"]
    said = "; ".join(result["verdict"]["reasons"])
    assert "the proxy sent `200 KO` instead of `200 OK`" in said
    assert "`Server: ngimx`, `Server: nginx`" in said
