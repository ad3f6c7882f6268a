"""Tests of proxies: the time they add is measured, and a proxy that loses or invents a byte gets no result."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.harness import TARGETS, Harness, results

pytestmark = pytest.mark.slow

RELAYING = "proxy:test/relaying"
OF_TESTS = ("--targets", str(TARGETS))


@pytest.mark.alone
def test_a_rising_rate_is_measured_with_and_without_the_proxy(harness: Harness) -> None:
    rising = ("--rate", "100..300", "--step", "100/1s", "-d", "1s", "--requests-per-connection", "50", "--timeout", "5s")
    done = harness.bench(f"{RELAYING}/good", "--workload", "proxy-10kb", *rising, "--export-json", "-")
    found = results(done)
    assert set(found) == {"baseline", f"{RELAYING}/good"}, done.stderr
    for name, result in found.items():
        (trial,) = result["rounds"]
        if "other programs took" in json.dumps(trial["verdict"]):  # a stall of 10 ms at the end of a step breaks the rate
            pytest.skip(f"other programs disturbed it: {trial['verdict']}")
        assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
        steps = trial["measurement"]["steps"]
        assert [step["rate_rps"] for step in steps] == [100, 200, 300]
        assert [step["start_s"] for step in steps] == [0, 1, 2]
        assert result["summary"]["rate_held_rps"]["median"] == 300
        assert result["summary"]["response_time_us"]["p50"]["median"] == steps[-1]["response_time_us"]["p50"]
        # About 600 responses of 10,000 bytes plus heads.
        assert trial["measurement"]["bytes_received"] == pytest.approx(600 * 10_250, rel=0.1)
        assert trial["backend_usage"]["cpu_s"] > 0
        assert (trial["target_usage"] is None) == (name == "baseline")
    added = found[f"{RELAYING}/good"]["overhead"]["p50"]
    (ours,), (theirs,) = (found[name]["rounds"] for name in (f"{RELAYING}/good", "baseline"))
    p50 = [trial["measurement"]["steps"][-1]["response_time_us"]["p50"] for trial in (ours, theirs)]
    assert added["us"] == pytest.approx(p50[0] - p50[1])
    assert added["share"] == pytest.approx(p50[0] / p50[1] - 1)

    again = harness.run("report")
    assert again.returncode == 0 and "Added to the baseline" in again.stdout
    lines = list(csv.DictReader(io.StringIO(harness.run("report", "--export-csv", "-").stdout)))
    assert [bool(line["added_us_p50"]) for line in lines] == [line["target"] != "baseline" for line in lines]
    assert all(line["rate_held_rps"] == "300.0" for line in lines)


@pytest.mark.alone
def test_the_time_a_proxy_adds_is_measured_within_10_percent(harness: Harness) -> None:
    """Every 100th chunk waits for 0.5 s. With two chunks per request, 2% of the requests wait, so the p99 includes the delay."""
    load = ("-c", "48", "--rate", "400", "-d", "3s", "--timeout", "10s", "--workload", "proxy-hello")
    found = results(harness.bench(f"{RELAYING}/late-500ms", *load, "--export-json", "-"))
    overhead = found[f"{RELAYING}/late-500ms"]["overhead"]
    assert overhead["p99"]["us"] == pytest.approx(500_000, rel=0.1)
    assert overhead["p90"]["us"] < 250_000


def test_a_proxy_that_loses_or_invents_one_byte_in_a_million_has_no_result(harness: Harness) -> None:
    modes = [f"{RELAYING}/{mode}" for mode in ("drops", "invents")]
    load = ("--workload", "proxy-10kb", "-d", "1s", "--timeout", "1s", "--interleave", "rounds")
    done = harness.bench(*modes, *load, "--export-json", "-")
    assert done.returncode == 1
    for mode in modes:
        result = results(done)[mode]
        assert result["verdict"]["kind"] == "invalid" and result["summary"]["throughput_rps"] is None
        assert result["overhead"] == {}
        reasons = "; ".join(result["verdict"]["reasons"])
        assert "bytes were lost, changed or invented" in reasons or "httpbench verify" in reasons


COUNTED_LATE = """
import time
from httpbench.run.slices.started import NOTHING, HandledInTurns
counting = HandledInTurns.counting
def late(self):
    time.sleep(0.1 if self.so_far == NOTHING else 0)
    return counting(self)
HandledInTurns.counting = late
"""


def test_a_proxy_and_its_baseline_take_turns_over_one_backend_ten_times_of_ten(harness: Harness) -> None:
    """On a busy machine, the backend's counts are read late. Everything since the load began must be counted anyway."""
    load = ("--workload", "proxy-10kb", "-c", "8", "-d", "400ms", "--timeout", "5s", "--rounds", "10", "--interleave", "slices")
    found = results(harness.bench(f"{RELAYING}/good", *load, "--export-json", "-", first=COUNTED_LATE))
    for name, result in found.items():
        assert len(result["rounds"]) == 10
        for trial in result["rounds"]:
            assert trial["verdict"]["kind"] not in ("invalid", "failed"), trial["verdict"]
            assert len(trial["measurement"]["intervals"]) == 4
            assert trial["backend_usage"]["cpu_s"] > 0
            assert (trial["target_usage"] is None) == (name == "baseline")
    for relayed in found[f"{RELAYING}/good"]["rounds"]:
        requests = relayed["measurement"]["requests"]
        responses = requests["ok"] + requests["before_window"]
        assert responses <= relayed["backend_requests"] <= 1.1 * responses + 100, "those of the baseline don't count"
    assert found[f"{RELAYING}/good"]["overhead"]["p50"]["us"] > 0


def test_verify_reports_which_byte_was_lost(harness: Harness) -> None:
    done = harness.run("verify", *OF_TESTS, f"{RELAYING}/drops")
    assert done.returncode == 1
    assert "✗ relays 8 MiB each way at once, byte for byte: byte " in done.stdout and "was lost" in done.stdout
    assert "✓ carries 1,000 connections at once" in done.stdout


def test_verify_passes_a_proxy_that_follows_its_contract(harness: Harness) -> None:
    done = harness.run("verify", *OF_TESTS, f"{RELAYING}/good")
    assert done.returncode == 0, done.stdout
    assert "✗" not in done.stdout


def test_responses_shows_what_the_proxy_forwards(harness: Harness) -> None:
    done = harness.run("responses", *OF_TESTS, f"{RELAYING}/good")
    assert done.returncode == 0 and "000000001" in done.stdout and "nginx" in done.stdout


def test_a_workload_of_another_kind_is_refused(harness: Harness) -> None:
    done = harness.run("bench", *OF_TESTS, f"{RELAYING}/good", "--workload", "plaintext")
    assert done.returncode == 2
    assert "workload plaintext is for servers, not for proxies" in done.stderr


def test_a_plan_shows_the_scaled_rates_and_the_cores_of_each_program(harness: Harness) -> None:
    done = harness.run("bench", "--suite", "tcp-proxies", "--scale", "0.01", "--dry-run", "c/haproxy")
    assert done.returncode == 0 and "baseline" in done.stdout
    assert "100 to 250" in done.stdout and "closed loop" in done.stdout and "Backend cores" in done.stdout
    shorter = harness.run("bench", "--suite", "tcp-proxies", "--step", "2s", "-d", "2s", "--rounds", "1", "--dry-run", "c/haproxy")
    assert "6 trials: 6 lines × 1 round" in shorter.stdout, shorter.stderr


def test_a_users_own_proxy_is_found_in_a_folder(harness: Harness, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    folder.mkdir()
    manifest = (TARGETS / "relaying" / "target.toml").read_text().replace('framework = "relaying"', 'framework = "mine"')
    (folder / "target.toml").write_text(manifest)
    (folder / "relay.c").write_text((TARGETS / "relaying" / "relay.c").read_text())
    done = harness.run("bench", "--targets", str(tmp_path), "proxy:test/mine/good", "--dry-run", "--rounds", "2")
    assert done.returncode == 0 and "4 trials: 2 lines × 2 rounds" in done.stdout
