"""Tests of the time to the first byte, with servers that send the head and the body of each response after known delays."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import slow_body_server
from tests.harness import PYTHON, Harness

HEAD_MS, BODY_MS = 5, 20
SLACK_MS = 5
"""Maximum time that a median may be too long, because timers are late and other tests run at the same time."""


def serving(head_ms: float, body_ms: float) -> str:
    return f"{PYTHON} {shlex.quote(slow_body_server.__file__)} {{host}} {{port}} {head_ms} {body_ms}"


SLOW_BODY, SLOWER_HEAD = serving(HEAD_MS, BODY_MS), serving(3 * HEAD_MS, BODY_MS)


def run(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    return harness.run("run", "-c", "8", "--warmup", "100ms", *words)


def summaries(document: Path) -> list[dict[str, Any]]:
    return [result["summary"] for result in json.loads(document.read_text())["results"]]


def assert_medians(summary: dict[str, Any], latency: str, head_ms: float) -> None:
    medians = [summary[name]["p50"]["median"] / 1000 for name in ("first_byte_us", latency)]
    for measured, expected in zip(medians, (head_ms, head_ms + BODY_MS), strict=True):
        assert expected <= measured < expected + SLACK_MS, medians


@pytest.mark.alone
def test_an_open_loop_measures_from_the_intended_send(harness: Harness, tmp_path: Path) -> None:
    """Eight connections can serve 320 requests/s, so requests at 400/s wait longer and longer for one."""
    document = tmp_path / "run.json"
    for rate, waits in ((100, False), (400, True)):
        run(harness, SLOW_BODY, "-d", "500ms", "--rounds", "1", "--rate", str(rate), "--export-json", str(document))
        (result,) = json.loads(document.read_text())["results"]
        measured = result["rounds"][0]["measurement"]
        first_ms, whole_ms = (measured[name]["p50"] / 1000 for name in ("first_byte_us", "response_time_us"))
        assert whole_ms - first_ms == pytest.approx(BODY_MS, abs=SLACK_MS), rate
        assert (first_ms > 3 * HEAD_MS) is waits, (rate, first_ms)


@pytest.mark.alone
def test_a_gate_on_the_first_byte_is_breached_by_a_slower_head(harness: Harness, tmp_path: Path) -> None:
    """The slices of the two servers alternate, so this test also covers times to the first byte in slices."""
    document, page = tmp_path / "run.json", tmp_path / "run.html"
    exports = ("--export-json", str(document), "--export-html", str(page))
    rounds = ("-d", "400ms", "--rounds", "3", "--interleave", "slices", *exports)
    done = run(harness, SLOW_BODY, SLOWER_HEAD, *rounds, "--fail-if", "ttfb-p50>50%", "--fail-if", "p50>300%")
    assert done.returncode == 3, done.stdout + done.stderr
    assert "BREACHED ttfb-p50>+50%" in done.stdout + done.stderr
    for summary, head_ms in zip(summaries(document), (HEAD_MS, 3 * HEAD_MS), strict=True):
        assert_medians(summary, "service_time_us", head_ms)
    assert "Time to the first byte and to the whole response" in page.read_text()
    assert "TTFB p50" in harness.run("report", "--wide").stdout
    shown = harness.run("report", "--columns", "target,ttfb-p50,p50").stdout
    assert "TTFB p50" in shown, shown


def test_a_generator_without_first_bytes_is_refused_before_anything_runs(harness: Harness) -> None:
    done = run(harness, SLOW_BODY, SLOWER_HEAD, "--load-generator", "hey", "--fail-if", "ttfb>10%")
    assert done.returncode == 2
    assert "--fail-if 'ttfb-p99>+10%' needs the time to the first byte, which hey doesn't report" in done.stderr
    assert harness.runs() == []


@pytest.mark.alone
def test_a_service_level_can_bound_the_first_byte(harness: Harness) -> None:
    """Eight connections can serve 320 requests/s. Above that rate, requests wait, which also delays their first byte."""
    search = ("-c", "8", "-d", "1s", "--warmup", "100ms", "--trials", "1", "--width", "50%", "--slo", "ttfb-p90<100ms")
    done = harness.run("saturate", SLOW_BODY, *search, "--export-json", "-")
    if "trials in a row were disturbed" in done.stdout + done.stderr:
        pytest.skip("other programs disturbed every trial")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["saturation"]
    assert 100 < found["rate_rps"] < 330
    shown = harness.run("report").stdout
    assert "SLO (TTFB p90 < 100 ms" in shown, shown
