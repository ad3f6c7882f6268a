"""Tests of mixed workloads and of the rules that check bodies under load."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.harness import PYTHON, Harness

pytestmark = pytest.mark.slow

SERVER = Path(__file__).with_name("lying_server.py")
SHORT = ("-c", "4", "-d", "1500ms", "--warmup", "200ms", "--rounds", "1", "--retries", "0", "-q", "--export-json", "-")


def measured(harness: Harness, workload: str, lie: str) -> dict[str, Any]:
    """Run a mix against a lying server and return the only trial."""
    done = harness.run("run", "--workload", workload, *SHORT, f"{PYTHON} {shlex.quote(str(SERVER))} {{port}} {lie}", timeout_s=60)
    (result,) = json.loads(done.stdout)["results"]
    (trial,) = result["rounds"]
    assert isinstance(trial, dict)
    return trial


def test_a_mix_has_results_for_the_whole_and_for_each_part(harness: Harness) -> None:
    trial = measured(harness, "json:3,db:1", "honest")
    assert trial["verdict"]["kind"] != "invalid", trial["verdict"]
    measurement = trial["measurement"]
    assert [(part["name"], part["weight"]) for part in measurement["parts"]] == [("json", 3), ("db", 1)]
    assert sum(part["ok"] for part in measurement["parts"]) == measurement["requests"]["ok"] > 100
    most, least = (part["sent"] for part in measurement["parts"])
    assert abs(most - 3 * least) <= 4 * 4, "but for one turn of each thread"
    assert measurement["sampled_bodies"]["checked"] > 0 and measurement["sampled_bodies"]["wrong"] == 0


@pytest.mark.parametrize(
    ("workload", "lie", "reason"),
    [
        ("db", "wrong", "sampled during the load were wrong: an object with the keys id instead of id and randomNumber"),
        ("db", "same", "rows have the same id, 7"),
        ("json:3,db:1", "wrong", "sampled during the load were wrong"),
    ],
)
def test_a_server_that_lies_under_load_is_detected(harness: Harness, workload: str, lie: str, reason: str) -> None:
    verdict = measured(harness, workload, lie)["verdict"]
    assert verdict["kind"] == "invalid" and any(reason in said for said in verdict["reasons"]), verdict


def test_other_load_generators_refuse_a_mix_with_one_sentence(harness: Harness) -> None:
    done = harness.run("bench", "c/epoll/level", "--workload", "plaintext:3,json:1", "--load-generator", "wrk", "-q")
    assert done.returncode == 2
    assert "wrk cannot send requests of several kinds; `--load-generator native` can" in done.stderr


def test_a_path_cannot_be_combined_with_a_mix(harness: Harness) -> None:
    done = harness.run("bench", "c/epoll/level", "--workload", "plaintext,json:2", "--path", "/x", "-q")
    assert done.returncode == 2 and "--path applies to one request" in done.stderr
