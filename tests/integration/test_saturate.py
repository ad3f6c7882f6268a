"""Tests of ``httpbench saturate`` with a server of known capacity, which takes a fixed time for each request."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import pytest

from tests.harness import TARGETS, Harness

SOURCE = Path(__file__).parents[2] / "benchmarks" / "saturation" / "server.c"
SERVICE_US = 1000
CAPACITY_RPS = 1e6 / SERVICE_US


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("saturation") / "server"
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-o", program, SOURCE], check=True)
    return program


@pytest.mark.alone
def test_the_capacity_is_found_stored_plotted_and_exported(harness: Harness, server: Path) -> None:
    """The search can't find a rate above the server's capacity. How far the result is below the capacity depends on the machine.

    Beyond that rate, the queue that grows during the warm-up and the overload is worked off at the rest of the capacity.
    """
    command, factor, overload_s = f"{server} {{host}} {{port}} {SERVICE_US}", 1.5, 1.2
    asked = ("--slo", "p90<50ms", "--width", "10%", "--trials", "1", "-d", "1s", "--warmup", "200ms", "--overload", str(factor))
    done = harness.run("saturate", command, *asked, "--name", "known", "--export-json", "-")
    document = json.loads(done.stdout)
    found = document["saturation"]
    if found["too_disturbed"] or found["overload"] is None:
        pytest.skip(f"other programs disturbed the trials: {found['disturbed_by']}")
    assert done.returncode == 0, done.stderr
    assert CAPACITY_RPS / 4 < found["rate_rps"] < CAPACITY_RPS * 1.1
    assert found["rate_rps"] < found["rate_failed_rps"]
    assert found["is_narrow"]
    assert [point["rate_rps"] for point in found["curve"]] == sorted(point["rate_rps"] for point in found["curve"])

    beyond = found["overload"]
    assert beyond["offered_rps"] == pytest.approx(factor * found["rate_rps"])
    assert beyond["goodput_rps"] == pytest.approx(min(beyond["offered_rps"], CAPACITY_RPS), rel=0.1)
    queued_s = overload_s * max(beyond["offered_rps"] - CAPACITY_RPS, 0.0) / (CAPACITY_RPS - beyond["after_rps"])
    assert beyond["recovery_s"] == pytest.approx(queued_s, abs=2 * beyond["resolution_s"])

    (line,) = harness.runs()
    assert line["trials_done"] == line["trials_planned"] == sum(len(result["rounds"]) for result in document["results"])
    shown = harness.run("report", "latest").stdout
    claim = rf"SLO \(p90 < 50 ms, at most 0.1% failed\) holds (?:at|up to at least) {found['rate_rps']:,g} requests/s"
    assert re.search(claim, shown), shown
    assert "● p90, SLO held" in shown
    assert "correct responses/s" in shown
    assert harness.run("report", "--export-markdown", "-").stdout.count("| ") > 5
    assert f",{found['rate_rps']:g}," in harness.run("report", "--export-csv", "-").stdout


@pytest.mark.slow
def test_an_unreachable_slo_ends_the_search_with_a_message(harness: Harness, server: Path) -> None:
    """No response can be faster than the service time."""
    command = f"{server} {{host}} {{port}} {SERVICE_US}"
    done = harness.run("saturate", command, "--slo", "mean<1ms", "-d", "200ms", "--warmup", "0s", "--max-trials", "2")
    assert done.returncode == 1
    assert "SLO (mean < 1 ms, at most 0.1% failed) held at no rate" in done.stdout


@pytest.mark.slow
def test_a_server_that_does_not_start_ends_the_search(harness: Harness) -> None:
    done = harness.run("saturate", "--targets", str(TARGETS), "test/misbehaving/exits")
    assert done.returncode == 1
    assert "held at no rate: " in done.stdout
    assert "ended before it responded" in done.stdout
