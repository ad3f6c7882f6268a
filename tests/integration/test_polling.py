"""Tests with real servers that poll. Their core is busy even without load, so its usage doesn't show whether they are the bottleneck."""

from __future__ import annotations

import json
import os
import shlex
from typing import Any

import pytest

from tests.harness import PYTHON, TARGETS, Harness

pytestmark = pytest.mark.skipif(
    len(os.sched_getaffinity(0)) < 2, reason="on one core target and generator share it, and neither is to blame"
)


def measured(harness: Harness, mode: str) -> dict[str, Any]:
    """Measure a server in this mode and return the only trial."""
    server = f"{PYTHON} {shlex.quote(str(TARGETS / 'polling' / 'server.py'))} {{port}} {mode}"
    done = harness.run(
        "run", server, "-c", "8", "-d", "1s", "--warmup", "100ms", "--rounds", "1", "--expect-status", "200", "--export-json", "-"
    )
    (result,) = json.loads(done.stdout)["results"]
    (trial,) = result["rounds"]
    assert trial["measurement"], trial
    return {**trial, "reasons": "; ".join(trial["verdict"]["reasons"])}


def test_a_busy_core_does_not_make_a_polling_server_the_bottleneck(harness: Harness) -> None:
    trial = measured(harness, "polls")
    assert trial["facts"]["target_polling_threads"] == 1
    assert trial["verdict"]["kind"] != "target"
    if trial["facts"]["target_cores"] >= 0.8 and trial["verdict"]["kind"] != "disturbed":  # on a busy machine, the server may get less time
        assert trial["verdict"]["kind"] in ("unknown", "both"), trial["verdict"]
        assert "the target polls (" in trial["reasons"]
        assert "its CPU time does not show whether it is full" in trial["reasons"]
    assert "Polling" in harness.run("report", "--evidence").stdout


@pytest.mark.parametrize("mode", ["blocks", "starts", "collects"])
def test_work_before_or_after_the_load_is_not_polling(harness: Harness, mode: str) -> None:
    trial = measured(harness, mode)
    assert trial["facts"]["target_polling_threads"] < 0.5
    assert "polls" not in trial["reasons"]
