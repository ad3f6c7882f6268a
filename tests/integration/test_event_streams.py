"""Tests of event streams, with a server that sends events at known times."""

from __future__ import annotations

import csv
import json
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests import event_server
from tests.harness import PYTHON, Harness

FIRST_MS, GAP_MS = 20, 10
SLACK_MS = 60
"""Maximum time that the fastest first event may be late, because the server begins many streams at once beside other tests."""


def serving(first_ms: float, gap_ms: float, lose_every: int = 0) -> str:
    return f"{PYTHON} {shlex.quote(event_server.__file__)} {{host}} {{port}} {first_ms} {gap_ms} {lose_every}"


STEADY = serving(FIRST_MS, GAP_MS)


def run(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    return harness.run("run", "--sse", "-c", "32", "-d", "500ms", "--warmup", "100ms", *words)


def measured(document: Path) -> list[dict[str, Any]]:
    return [result["rounds"][0]["measurement"] for result in json.loads(document.read_text())["results"]]


def first_event_is_true(found: dict[str, Any]) -> None:
    """Check that no first event came early, and that one came in time. All streams begin at once, so a single stall can delay most."""
    first = found["events"]["first_us"]
    assert FIRST_MS <= first["min"] / 1000 < FIRST_MS + SLACK_MS


def throughput_is_true(found: dict[str, Any]) -> None:
    """Check the time between events by its median, and the throughput by the number of these times. Only few stalls affect a median."""
    between = found["events"]["between_us"]
    assert between["p50"] / 1000 == pytest.approx(GAP_MS, abs=3)
    assert found["throughput_rps"] * found["duration_s"] == pytest.approx(between["count"], abs=32)


def test_tables_and_exports_show_events(harness: Harness, tmp_path: Path) -> None:
    document, sheet, page = (tmp_path / f"run.{ending}" for ending in ("json", "csv", "html"))
    exports = ("--export-json", str(document), "--export-csv", str(sheet), "--export-html", str(page))
    done = run(harness, STEADY, "--rounds", "1", *exports)
    assert done.returncode == 0, done.stderr
    (found,) = measured(document)
    events = found["events"]
    assert (events["lost"], events["numbered_streams"], found["errors"].get("timeout", 0)) == (0, 32, 0)
    first_event_is_true(found)
    throughput_is_true(found)
    (line,) = csv.DictReader(sheet.open())
    assert line["events_lost"] == "0"
    assert float(line["first_event_us_p50"]) == events["first_us"]["p50"]
    shown = harness.run("report").stdout
    assert all(title in shown for title in ("Events/s", "First event p50", "Between p99", "Lost", "time to the first event")), shown
    assert "Events/s" in page.read_text()


def test_an_open_loop_opens_streams_at_a_rate(harness: Harness, tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    for connections, reason in (("64", None), ("8", "offered 40 requests/s")):
        done = run(harness, STEADY, "--rounds", "1", "-c", connections, "--rate", "40", "--export-json", str(document))
        (found,) = measured(document)
        verdict = json.loads(document.read_text())["results"][0]["verdict"]
        if reason is None:
            assert found["events"]["first_us"]["count"] == 20, done.stderr
            first_event_is_true(found)
        else:  # each stream occupies a connection
            assert reason in str(done.stdout), (verdict, done.stdout)


def test_connections_of_http2_have_several_streams(harness: Harness, tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    done = run(harness, STEADY, "--rounds", "1", "-c", "8", "--pipeline", "4", "--http2", "--export-json", str(document))
    assert done.returncode == 0, done.stderr
    (found,) = measured(document)
    assert (found["events"]["lost"], found["events"]["numbered_streams"]) == (0, 32)
    first_event_is_true(found)
    throughput_is_true(found)


def test_lost_events_make_a_trial_invalid(harness: Harness) -> None:
    done = run(harness, serving(FIRST_MS, GAP_MS, lose_every=10), "--rounds", "1")
    assert done.returncode == 1
    assert "events lost: ids are missing in 32 streams" in done.stdout, done.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["--load-generator", "hey"], "hey cannot measure event streams; `--load-generator native` can"),
        (["--pipeline", "2"], "an event stream occupies its connection: remove --pipeline, or add --http2"),
        (["--expect-body", "x"], "--sse measures event streams from a single request"),
        (["--interleave", "slices", STEADY], "targets cannot take turns in slices: event streams don't end with a slice"),
    ],
)
def test_impossible_combinations_are_refused(harness: Harness, words: list[str], problem: str) -> None:
    done = run(harness, STEADY, *words)
    assert done.returncode == 2
    assert problem in done.stderr
    assert harness.runs() == []


def test_gates_on_events_require_event_streams(harness: Harness) -> None:
    done = harness.run("run", STEADY, serving(FIRST_MS, 2 * GAP_MS), "--fail-if", "between-p50>20%")
    assert done.returncode == 2
    assert "--fail-if 'between-p50>+20%' needs event streams" in done.stderr


def test_a_response_that_is_no_event_stream_is_refused(harness: Harness) -> None:
    done = run(harness, f"{PYTHON} -m http.server --bind {{host}} {{port}}", "--rounds", "1")
    assert done.returncode == 1
    assert "Content-Type `text/html` instead of `text/event-stream`" in done.stdout + done.stderr
