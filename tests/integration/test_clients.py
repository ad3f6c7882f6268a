"""End-to-end tests of clients. A client that did different work from the others gets no result, and its row states the reason."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import Any

import pytest

from tests.harness import TARGETS, Harness

pytestmark = pytest.mark.slow

PREFIX = "client:test/cheating"


def bench(harness: Harness, *words: str, rounds: int = 1) -> subprocess.CompletedProcess[str]:
    return harness.run("bench", "--targets", str(TARGETS), "--requests", "40", "--rounds", str(rounds), *words)


def result(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    (found,) = json.loads(done.stdout)["results"]
    return dict(found)


def test_an_honest_client_has_times_and_counts_that_prove_its_work(harness: Harness) -> None:
    done = bench(harness, f"{PREFIX}/honest", "--export-json", "-", rounds=2)
    assert done.returncode == 0, done.stderr
    found = result(done)
    client = found["summary"]["client"]
    assert (client["requests"], client["connections"], client["in_flight_max"]) == (40, 1, 1)
    assert client["startup_s"] > 0
    assert client["min_s"] <= client["mean_s"] <= client["max_s"]
    assert len(client["times_s"]) == 2
    (seen,) = {one["client"]["done"]["body_bytes_sent"] for one in found["rounds"]}
    assert seen == 40 * 12
    assert found["summary"]["rss_bytes_peak"]["median"] > 5_000_000, "an interpreter takes more"


CHEATS = {
    "crashes": ("failed", "crashed when asked to send 10 requests (exit code 1)"),
    "is-killed": ("failed", "crashed when asked to send 10 requests (killed by signal 9)"),
    "sends-one-less": ("invalid", "sent 39 requests instead of 40"),
    "sends-ten-at-once": ("invalid", "requests in flight at once instead of one after the other"),
    "connects-each-time": ("invalid", "opened 40 connections instead of 1"),
    "pipelines": ("invalid", "before the previous response had arrived"),
}


def test_a_cheating_client_gets_a_reason_instead_of_a_result(harness: Harness) -> None:
    done = bench(harness, f"{PREFIX}/honest", *(f"{PREFIX}/{mode}" for mode in CHEATS), "--export-json", "-")
    assert done.returncode == 1
    results = {one["target"]: one for one in json.loads(done.stdout)["results"]}
    shown = " ".join(harness.run("report", "--explain").stdout.split())
    for mode, (verdict, reason) in CHEATS.items():
        found = results[f"{PREFIX}/{mode}"]
        assert found["verdict"]["kind"] == verdict, mode
        assert reason in "; ".join(found["verdict"]["reasons"]), mode
        assert reason in shown, mode
        assert found["summary"]["client"] is None
        assert found["summary"]["throughput_rps"] is None
        assert found["rank_best"] is None
    assert results[f"{PREFIX}/honest"]["summary"]["client"]["requests"] == 40
    assert "out of luck" in shown, "the log of a crash is shown"


def test_each_request_opens_a_connection_if_the_server_closes_it(harness: Harness) -> None:
    done = bench(harness, f"{PREFIX}/connects-each-time", "--workload", "client-reconnect", "--export-json", "-")
    assert done.returncode == 0, done.stderr
    assert result(done)["summary"]["client"]["connections"] == 40


def test_tables_and_exports_follow_hyperfines_format(harness: Harness) -> None:
    done = bench(harness, f"{PREFIX}/honest", f"{PREFIX}/declared", "--export-markdown", "-", rounds=2)
    assert done.returncode == 0, "a declared limit is no cheating"
    assert f"no-keepalive (opens a new connection for each request): {PREFIX}/declared" in done.stdout
    header = next(line for line in done.stdout.splitlines() if line.startswith("| Command"))
    titles = [cell.strip() for cell in header.strip("|").split("|")]
    assert titles[:7] == ["Command", "Median (ms)", "Mean (ms)", "σ (ms)", "Min (ms)", "Max (ms)", "Relative"]
    told = json.loads(harness.run("report", "--export-hyperfine", "-").stdout)["results"]
    assert {one["command"] for one in told} == {"test/cheating/honest", "test/cheating/declared"}
    for one in told:
        assert one["min"] <= one["median"] <= one["max"]
        assert len(one["times"]) == 2
    evidence = harness.run("report", "--evidence").stdout
    assert "held" in evidence
    assert "timed" in evidence
    csv = harness.run("report", "--export-csv", "-").stdout.splitlines()
    assert len(csv) == 5
    assert "client_wall_s" in csv[0]


def test_verify_reports_each_clause(harness: Harness) -> None:
    good = harness.run("verify", "--targets", str(TARGETS), f"{PREFIX}/connects-each-time", f"{PREFIX}/declared")
    assert good.returncode == 1
    assert "✗ sends all requests over one connection: opened 10 connections for 10 requests; if" in good.stdout
    assert 'declare limits = ["no-keepalive"]' in good.stdout
    assert "✓ sends all requests over one connection: does not hold, as declared (no-keepalive)" in good.stdout
    assert "✗ ends with an error if the status is 404" in good.stdout


def test_responses_shows_the_clients_request(harness: Harness) -> None:
    done = harness.run("responses", "--targets", str(TARGETS), f"{PREFIX}/honest")
    assert done.returncode == 0, done.stderr
    assert "GET /data HTTP/1.1" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((f"{PREFIX}/honest", "-c", "8"), "a client makes its requests one after the other"),
        ((f"{PREFIX}/honest", "--load-generator", "wrk"), "unknown timer 'wrk'"),
        ((f"{PREFIX}/honest", "--workload", "plaintext"), "workload plaintext is for servers, not for clients"),
        (("c/nginx", "--workload", "client-small-1000"), "workload client-small-1000 is for clients, not for servers"),
        (("c/nginx", f"{PREFIX}/honest"), "a run measures targets of one kind"),
    ],
)
def test_impossible_options_are_refused_before_anything_runs(harness: Harness, words: tuple[str, ...], said: str) -> None:
    done = harness.run("bench", "--targets", str(TARGETS), *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_hyperfine_times_the_same_work(harness: Harness) -> None:
    assert shutil.which("hyperfine"), "make test would install it: httpbench setup --load-generator hyperfine"
    done = bench(harness, f"{PREFIX}/honest", "--load-generator", "hyperfine", "--export-json", "-", rounds=2)
    assert done.returncode == 0, done.stderr
    found = result(done)
    assert found["load_generator"] == "hyperfine"
    assert found["summary"]["client"]["requests"] == 40
    assert {one["client"]["timer"] for one in found["rounds"]} == {"hyperfine"}
    crashed = bench(harness, f"{PREFIX}/crashes", "--load-generator", "hyperfine", "--export-json", "-")
    assert "crashed when asked to send 10 requests (exit code 1)" in result(crashed)["verdict"]["reasons"]
