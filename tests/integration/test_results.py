"""Tests that ``make results`` measures real targets and writes the folder of a suite."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from httpbench.report.data.read_json import read_export
from tests.harness import Harness

SHORT = "c/epoll -c 8 -d 300ms --warmup 100ms --rounds 3 --retries 0"


def results(harness: Harness, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "tools.results.measure", "--results", str(harness.home / "results"), *words]
    return subprocess.run(argv, env=harness.env, capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.slow
def test_a_suite_becomes_a_folder_and_a_line_in_the_index(harness: Harness) -> None:
    done = results(harness, "quick", "--even-if-busy", "--options", SHORT)
    assert done.returncode == 0, done.stderr
    (folder,) = Path(harness.home / "results").glob("*/quick")
    run, trials = read_export(folder / "run.json.zst")
    assert len(trials) == 6 and {trial.plan.target for trial in trials} == {"c/epoll/edge", "c/epoll/level"}
    command = f"httpbench bench --suite quick --skip-missing {SHORT} --export-json -"
    assert " ".join(run.command) == command
    assert f"$ {command}\n" in (folder / "table.md").read_text(encoding="utf-8")
    assert "6 trials: 2 lines × 3 rounds, about " in done.stdout
    assert f"written: {folder}" in done.stdout
    assert "- [**quick**](" in (harness.home / "results" / "README.md").read_text(encoding="utf-8")
    assert str(Path.cwd()) not in (folder / "report.html").read_text(encoding="utf-8")
    again = harness.run("report", str(folder / "run.json.zst"))
    assert f"run {run.id}" in again.stdout


@pytest.mark.slow
def test_a_suite_that_cannot_run_here_is_listed_with_the_reason(harness: Harness) -> None:
    done = results(harness, "quick", "--options", "dlang/mecca --isolate podman")
    assert done.returncode == 2
    assert "quick: httpbench bench --suite quick --skip-missing dlang/mecca --isolate podman\n" in done.stdout
    assert "error: " in done.stdout and "no suite can run here" in done.stderr
    assert not (harness.home / "results").exists()


@pytest.mark.slow
def test_a_dry_run_prints_the_expected_time_and_measures_nothing(harness: Harness) -> None:
    done = results(harness, "quick", "--dry-run", "--options", "c/epoll")
    assert done.returncode == 0
    assert "10 trials: 2 lines × 5 rounds, about " in done.stdout and "up to " in done.stdout
    assert not (harness.home / "results").exists()


@pytest.mark.slow
def test_an_unknown_suite_is_an_error(harness: Harness) -> None:
    done = results(harness, "quik")
    assert done.returncode == 2 and "unknown suite" in done.stderr
