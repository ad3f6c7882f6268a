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
"""Maximum time that a median may be too long, because the server begins many streams at once and other tests run at the same time."""


def serving(first_ms: float, gap_ms: float, lose_every: int = 0) -> str:
    return f"{PYTHON} {shlex.quote(event_server.__file__)} {{host}} {{port}} {first_ms} {gap_ms} {lose_every}"


STEADY = serving(FIRST_MS, GAP_MS)


def run(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    return harness.run("run", "--sse", "-c", "32", "-d", "500ms", "--warmup", "100ms", *words)


def measured(document: Path) -> list[dict[str, Any]]:
    return [result["rounds"][0]["measurement"] for result in json.loads(document.read_text())["results"]]


def test_tables_and_exports_show_events(harness: Harness, tmp_path: Path) -> None:
    document, sheet, page = (tmp_path / f"run.{ending}" for ending in ("json", "csv", "html"))
    exports = ("--export-json", str(document), "--export-csv", str(sheet), "--export-html", str(page))
    # A busy machine can stop the server for a tenth of a second at the end of the window.
    done = run(harness, STEADY, "--rounds", "1", "-d", "2s", *exports)
    assert done.returncode == 0, done.stderr
    (found,) = measured(document)
    events = found["events"]
    assert (events["lost"], events["numbered_streams"], found["errors"].get("timeout", 0)) == (0, 32, 0)
    assert FIRST_MS <= events["first_us"]["p50"] / 1000 < FIRST_MS + SLACK_MS
    assert events["between_us"]["p50"] / 1000 == pytest.approx(GAP_MS, abs=3)
    assert found["throughput_rps"] == pytest.approx(32 * 1000 / GAP_MS, rel=0.1)
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
            assert FIRST_MS <= found["events"]["first_us"]["p50"] / 1000 < FIRST_MS + SLACK_MS
        else:  # each stream occupies a connection
            assert reason in str(done.stdout), (verdict, done.stdout)


def test_connections_of_http2_have_several_streams(harness: Harness, tmp_path: Path) -> None:
    document = tmp_path / "run.json"
    done = run(harness, STEADY, "--rounds", "1", "-c", "8", "--pipeline", "4", "--http2", "--export-json", str(document))
    assert done.returncode == 0, done.stderr
    (found,) = measured(document)
    assert (found["events"]["lost"], found["events"]["numbered_streams"]) == (0, 32)
    assert FIRST_MS <= found["events"]["first_us"]["p50"] / 1000 < FIRST_MS + SLACK_MS
    assert found["throughput_rps"] == pytest.approx(32 * 1000 / GAP_MS, rel=0.1)


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
