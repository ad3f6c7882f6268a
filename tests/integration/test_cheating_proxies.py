"""Tests of TCP proxies that cheat: one that responds from memory, shares connections or changes heads gets no result."""

from __future__ import annotations

from typing import Any

import pytest

from tests.harness import Harness, results

RELAYING = "proxy:test/relaying"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """Return the results of two proxies that cheat, and of their baseline."""
    harness = Harness(tmp_path_factory.mktemp("cheating"))
    cheats = (f"{RELAYING}/remembers", f"{RELAYING}/renames")
    return results(harness.bench(*cheats, "--workload", "proxy-10kb", "-c", "8", "--export-json", "-"))


def test_a_proxy_that_responds_from_memory_has_no_result(measured: dict[str, dict[str, Any]]) -> None:
    verdict = measured[f"{RELAYING}/remembers"]["verdict"]
    assert verdict["kind"] == "invalid", verdict
    assert any("the proxy responded without it" in reason for reason in verdict["reasons"]), verdict
    (baseline,) = measured["baseline"]["rounds"]
    assert baseline["verdict"]["kind"] != "invalid"


def test_a_proxy_that_changes_heads_has_no_result(measured: dict[str, dict[str, Any]]) -> None:
    verdict = measured[f"{RELAYING}/renames"]["verdict"]
    assert verdict["kind"] == "invalid", verdict
    said = "; ".join(verdict["reasons"])
    assert "the proxy sent `200 KO` instead of `200 OK`" in said
    assert "`Server: ngimx`, `Server: nginx`" in said


@pytest.mark.slow
@pytest.mark.parametrize("interleave", ["rounds", "slices"])
def test_a_proxy_that_shares_connections_to_its_backend_has_no_result(harness: Harness, interleave: str) -> None:
    load = ("--workload", "proxy-10kb", "-c", "8", "-d", "1s", "--warmup", "200ms", "--timeout", "10s", "--interleave", interleave)
    found = results(harness.bench(f"{RELAYING}/pools", f"{RELAYING}/good", *load, "--export-json", "-"))
    verdict = found[f"{RELAYING}/pools"]["verdict"]
    assert verdict["kind"] == "invalid", verdict
    said = "; ".join(verdict["reasons"])
    assert "connections for 8 of the load generator: the proxy did not relay each of them" in said
    assert found[f"{RELAYING}/good"]["verdict"]["kind"] not in ("invalid", "failed")
