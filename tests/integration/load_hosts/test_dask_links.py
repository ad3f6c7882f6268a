"""Tests of load hosts in separate networks, with delays and cut links."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests import waiting
from tests.harness import Harness
from tests.load_host_lab import Lab, lab
from tests.namespaces import Link

pytestmark = pytest.mark.slow

LOAD = ("-c", "40", "--rate", "100", "-d", "2s", "--warmup", "500ms", "--rounds", "1")


def started(harness: Harness, made: Lab, *words: str) -> subprocess.Popen[str]:
    """Start the command on the target host."""
    argv = ("run", "--url", made.url, *made.cluster.options, *words, "--export-json", "-")
    return replace(harness, entrance=made.network.target.entrance).start(*argv)


def only_trial(running: subprocess.Popen[str]) -> tuple[dict[str, Any], str]:
    """Wait for a run to end, and return its only trial and its messages."""
    output, said = running.communicate(timeout=120)
    assert output, said
    found: dict[str, Any] = json.loads(output)["results"][0]["rounds"][0]
    return found, said


def test_four_load_hosts_over_links_of_5_ms_follow_one_schedule(harness: Harness, tmp_path: Path) -> None:
    with lab(tmp_path / "lab", 4, Link(delay_ms=5)) as made:
        running = started(harness, made, *LOAD)
        found, _ = only_trial(running)
    measurement = found["measurement"]
    assert [host["name"] for host in measurement["load_hosts"]] == ["load1", "load2", "load3", "load4"]
    assert measurement["requests"]["ok"] >= 0.8 * 200, "the last of 200 are responded to after the window"
    assert measurement["response_time_us"]["min"] >= 60_000 * 0.999, "10 ms on the way, 50 ms at the server"
    assert all(host["round_trip_ms"] >= 10 for host in measurement["load_hosts"])


def test_a_load_host_behind_a_cut_link_is_named(harness: Harness, tmp_path: Path) -> None:
    with lab(tmp_path / "lab", 2) as made:
        running = started(harness, made, *LOAD)
        waiting.until(lambda: len(made.cluster.load_generators()) == 2, 60)
        made.network.load_hosts[1].cut()
        found, said = only_trial(running)
        made.network.load_hosts[1].join()
        assert running.returncode == 1
        assert found["verdict"]["kind"] == "invalid" and "load host load2" in found["verdict"]["reasons"][0], said
        waiting.until(lambda: made.cluster.load_generators() == [], 60)
