"""Tests of ``httpbench saturate`` with a server of known capacity, which takes a fixed time for each request."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.harness import TARGETS, Harness

pytestmark = pytest.mark.alone

SOURCE = Path(__file__).parents[2] / "benchmarks" / "saturation" / "server.c"
SERVICE_US = 10_000
CAPACITY_RPS = 1e6 / SERVICE_US


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("saturation") / "server"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program


def test_the_capacity_is_found_stored_plotted_and_exported(harness: Harness, server: Path) -> None:
    """The search can't find a rate above the server's capacity. How far the result is below the capacity depends on the machine."""
    command = f"{server} {{host}} {{port}} {SERVICE_US}"
    asked = ("--slo", "p90<300ms", "--width", "10%", "--trials", "1", "-d", "2s", "--warmup", "0s", "--name", "known")
    done = harness.run("saturate", command, *asked, "--export-json", "-")
    if "trials in a row were disturbed" in done.stdout + done.stderr:
        pytest.skip("other programs disturbed every trial")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    found = document["saturation"]
    assert CAPACITY_RPS / 4 < found["rate_rps"] < CAPACITY_RPS * 1.1
    assert found["rate_rps"] < found["rate_failed_rps"]
    assert found["is_narrow"]
    assert [point["rate_rps"] for point in found["curve"]] == sorted(point["rate_rps"] for point in found["curve"])
    (line,) = harness.runs()
    assert line["trials_done"] == line["trials_planned"] == sum(len(result["rounds"]) for result in document["results"])
    shown = harness.run("report", "latest").stdout
    claim = rf"SLO \(p90 < 300 ms, at most 0.1% failed\) holds (?:at|up to at least) {found['rate_rps']:,g} requests/s"
    assert re.search(claim, shown), shown
    assert "● p90, SLO held" in shown
    assert harness.run("report", "--export-markdown", "-").stdout.count("| ") > 5
    assert f",{found['rate_rps']:g}," in harness.run("report", "--export-csv", "-").stdout


def test_an_overload_ends_with_the_capacity_and_a_recovery(harness: Harness, server: Path) -> None:
    """The queue that grows during the warm-up and the overload is worked off at the rest of the capacity."""
    fast_us, factor, overload_s = 1000, 1.5, 1.3
    capacity_rps = 1e6 / fast_us
    command = f"{server} {{host}} {{port}} {fast_us}"
    asked = ("--slo", "p90<50ms", "--width", "10%", "--trials", "1", "-d", "1s", "--warmup", "300ms", "--overload", str(factor))
    done = harness.run("saturate", command, *asked, "--export-json", "-")
    found = json.loads(done.stdout)["saturation"]
    if found["too_disturbed"] or found["overload"] is None:
        pytest.skip(f"other programs disturbed the trials: {found['disturbed_by']}")
    beyond = found["overload"]
    assert beyond["offered_rps"] == pytest.approx(factor * found["rate_rps"])
    assert beyond["goodput_rps"] == pytest.approx(capacity_rps, rel=0.1)
    queued_s = overload_s * (beyond["offered_rps"] - capacity_rps) / (capacity_rps - beyond["after_rps"])
    assert beyond["recovery_s"] == pytest.approx(queued_s, abs=2 * beyond["resolution_s"])
    assert "correct responses/s" in harness.run("report", "latest").stdout


def test_an_unreachable_slo_ends_the_search_with_a_message(harness: Harness, server: Path) -> None:
    """No response can be faster than the service time."""
    command = f"{server} {{host}} {{port}} {SERVICE_US}"
    done = harness.run("saturate", command, "--slo", "mean<1ms", "-d", "500ms", "--warmup", "0s", "--max-trials", "3")
    assert done.returncode == 1
    assert "SLO (mean < 1 ms, at most 0.1% failed) held at no rate" in done.stdout


def test_a_server_that_does_not_start_ends_the_search(harness: Harness) -> None:
    done = harness.run("saturate", "--targets", str(TARGETS), "test/misbehaving/exits")
    assert done.returncode == 1
    assert "held at no rate: " in done.stdout
    assert "ended before it responded" in done.stdout


def test_invalid_options_are_refused_before_anything_runs(harness: Harness) -> None:
    for words, sentence in {
        (): "no server given",
        ("c",): "saturate takes one server; ",
        ("c/nginx", "--slo", "p99"): '"p99" is not a bound; write it as p99<5ms',
        ("c/nginx", "--slo", "p98<5ms"): "with one of mean, p50",
        ("c/nginx", "--overload", "2", "--slo", "ttfb<5ms"): "--overload can't be combined with a bound on the first byte",
        ("c/nginx", "--width", "0.01%"): "is not between 0.2% and 50%",
        ("c/nginx", "--url", "http://127.0.0.1:1/"): "each name a server",
    }.items():
        done = harness.run("saturate", *words)
        assert done.returncode == 2, done.stdout
        assert sentence in done.stderr
    assert harness.runs() == []
