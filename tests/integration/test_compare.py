"""Tests of ``httpbench compare`` and its exit codes with real runs. The bounds of the gates are far beyond any noise."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.harness import MISBEHAVING_SERVER, Harness

pytestmark = pytest.mark.slow

GOOD = f"{MISBEHAVING_SERVER} {{host}} {{port}} good"
NEVER, ALWAYS = "p50>100000%", "p50>-99.9%"


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Harness:
    """Make two runs of one server, "one" and "two". The tests only read them."""
    harness = Harness(tmp_path_factory.mktemp("compared"))
    for name in ("one", "two"):
        # At a low rate, a busy machine makes no trial invalid.
        words: tuple[str, ...] = (
            "-c",
            "4",
            "--rate",
            "200",
            "-d",
            "200ms",
            "--warmup",
            "0s",
            "--timeout",
            "5s",
            "--rounds",
            "3",
            "--retries",
            "0",
        )
        words += ("--name", "server", "--run-name", name)
        done = harness.run("run", GOOD, *words)
        assert done.returncode == 0, done.stderr
    return harness


def compare(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    return harness.run("compare", *words)


def test_two_runs_are_compared_and_gates_decide_the_exit_code(measured: Harness, tmp_path: Path) -> None:
    comment, document = tmp_path / "comment.md", tmp_path / "comparison.json"
    passed = compare(measured, "--fail-if", NEVER, "--export-markdown", str(comment), "--export-json", str(document))
    assert passed.returncode == 0, passed.stderr
    assert "base: run" in passed.stdout
    assert " · one · " in passed.stdout
    assert "Rounds of two runs are not interleaved" in " ".join(passed.stdout.split())
    assert "1 of 1 gates passed" in passed.stdout
    assert json.loads(document.read_text())["cells"][0]["target"] == "command/server"
    assert comment.read_text().startswith("### httpbench: base → head")
    breached = compare(measured, "one", "two", "--fail-if", NEVER, "--fail-if", ALWAYS)
    assert breached.returncode == 3
    assert f"BREACHED {ALWAYS}" in breached.stdout


def test_an_export_from_another_machine_is_refused_or_gets_a_banner(measured: Harness, tmp_path: Path) -> None:
    path = tmp_path / "elsewhere.json"
    assert measured.run("report", "one", "--export-json", str(path)).returncode == 0
    assert compare(measured, str(path), "two").returncode == 0
    document = json.loads(path.read_text())
    document["environment"]["kernel"] = "2.6.32"
    path.write_text(json.dumps(document))
    refused = compare(measured, str(path), "two")
    assert refused.returncode == 2
    assert "were measured in different environments: kernel (2.6.32 → " in refused.stderr
    across = compare(measured, str(path), "two", "--across-environments")
    assert across.returncode == 0
    assert "DIFFERENT ENVIRONMENTS" in across.stdout


def test_a_gate_that_cannot_be_evaluated_does_not_pass(measured: Harness) -> None:
    done = compare(measured, "latest~1", "latest", "--fail-if", "time>10%")
    assert done.returncode == 1
    assert "NOT JUDGED time>+10%" in done.stdout
