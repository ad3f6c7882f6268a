"""``benchmarks/loadgen/compare.py``: the load generator against a bare client. No figure is asserted that a machine decides."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from httpbench import load

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "loadgen" / "compare.py"
WHAT = ("--cell", "keep-alive, 8 ", "--peer", "client_epoll", "--engine", "epoll", "--no-rate")


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="the comparison needs two CPUs")
@pytest.mark.parametrize(("turn_ms", "pairs"), [("20", 35), ("0", 7)])
def test_pairs_are_made_in_turns_or_as_whole_runs(tmp_path: Path, turn_ms: str, pairs: int) -> None:
    table = tmp_path / "table.json"
    words = ("--pairs", "7", "--seconds", "0.1", "--turn-ms", turn_ms, "--json", str(table))
    command = (sys.executable, str(SCRIPT), "--loadgen", load.get("native").program(), *WHAT, *words)
    subprocess.run(command, check=True, timeout=120)
    (row,) = json.loads(table.read_text())["ratios"]
    assert row["pairs"] == pairs
    low, high = row["throughput_interval"]
    assert 0 < low <= row["throughput"] <= high
    assert row["ours_rps"] > 0 < row["peer_rps"]
    assert row["cpu_per_request"] > 0 < row["server_cpu_per_request"]
