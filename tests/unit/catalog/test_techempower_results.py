"""Tests that a published ``results.json`` is read as a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from httpbench import catalog
from httpbench.catalog.techempower_results import read_results
from httpbench.errors import CatalogError
from httpbench.model import Run, RunStatus, Trial, VerdictKind
from tests.published import level, results, write_results

WORKLOADS = catalog.load().workloads


def read(path: Path) -> tuple[Run, list[Trial]]:
    return read_results(path, WORKLOADS, ("httpbench", "runs"), "round-23")


def test_each_level_of_each_test_is_a_trial(tmp_path: Path) -> None:
    run, trials = read(write_results(tmp_path / "results.json"))
    assert len(trials) == 4 * 2 + 4 * 2 + 1
    found = {(trial.plan.target, trial.plan.workload, trial.plan.load.connections, trial.plan.load.pipeline) for trial in trials}
    assert {
        ("go/gin", "json", 16, 1),
        ("go/gin", "json", 512, 1),
        ("go/gin/gorm", "query-1", 512, 1),
        ("go/gin/gorm", "query-20", 512, 1),
    } <= found
    assert ("go/gin", "plaintext", 256, 16) in found
    assert set(run.workloads) == {"json", "query-1", "query-20", "plaintext"}
    assert set(run.targets) == {"go/go-std", "go/gin", "go/gin/gorm", "rust/axum"}


def test_a_run_contains_only_known_facts(tmp_path: Path) -> None:
    run, trials = read(write_results(tmp_path / "results.json"))
    assert (run.published, run.name, run.status) == ("techempower", "round-23", RunStatus.FINISHED)
    assert (run.started_at, run.id) == ("2025-02-08T07:33:20.000Z", "20250208T073320-c1a3f8d0")
    assert (run.environment.cpu_model, run.environment.kernel, run.environment.git_commit) == (
        "Three servers",
        "5.15.0",
        "0123456789abcdef",
    )
    (trial,) = [trial for trial in trials if trial.plan.workload == "plaintext"]
    assert trial.verdict.kind is VerdictKind.UNKNOWN and trial.verdict.counts
    assert trial.observed.target_usage is None and trial.plan.cores.target == ()
    measurement = trial.measurement
    assert measurement is not None and measurement.service_time_us is not None
    assert (measurement.throughput_rps, measurement.requests.completed, measurement.duration_s) == (100_000, 1_500_000, 15)
    times = measurement.service_time_us
    assert (times.mean, times.stddev, times.max, times.p50, times.p99) == (1500.0, 560.1, 1_200_000.0, None, None)


def test_other_statuses_do_not_count_and_levels_without_a_possible_count_are_skipped(tmp_path: Path) -> None:
    raw = {"json": {"gin": [level(1500, **{"5xx": 300, "timeout": 2}), {"startTime": 1}, level(10**400)]}}
    _, trials = read(write_results(tmp_path / "results.json", rawData=raw))
    (measurement,) = [trial.measurement for trial in trials]
    assert measurement is not None
    assert (measurement.throughput_rps, measurement.requests.ok, measurement.errors) == (80, 1200, {"unexpected_status": 300, "timeout": 2})


def test_missing_latencies_and_metadata_stay_blank(tmp_path: Path) -> None:
    raw = {"cached_query": {"gin": [{"totalRequests": 15, "latencyAvg": "soon"}]}}
    run, trials = read(write_results(tmp_path / "results.json", rawData=raw, testMetadata=[], git=None, operatingSystem=None))
    assert [(trial.plan.target, trial.plan.workload) for trial in trials] == [("unknown/gin", "cached-query-1")]
    assert trials[0].measurement is not None and trials[0].measurement.service_time_us is None
    assert run.environment.git_commit is None


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"uuid": None}, "uuid: must be a string"),
        ({"concurrencyLevels": []}, "concurrencyLevels: must not be empty"),
        ({"duration": 0}, "duration:"),
        ({"rawData": []}, "rawData: must be a table"),
        ({"rawData": {"json": []}}, "rawData.json: must hold an array for each framework"),
        ({"rawData": {"json": {"gin": {}}}}, "rawData.json: must hold an array for each framework"),
        ({"rawData": {"json": {"gin": 3 * [level(1)]}}}, "json has more results than levels"),
        ({"rawData": {}}, "contains no results"),
        ({"startTime": 10**30}, "is not a time"),
        ({"concurrencyLevels": [0]}, "not a number of connections"),
        ({"queryIntervals": [1, 1000]}, 'unknown workload "query-1000"'),
    ],
)
def test_a_malformed_file_gives_one_sentence(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(CatalogError) as raised:
        read(write_results(tmp_path / "results.json", **changes))
    assert len(raised.value.problems) == 1 and problem in raised.value.problems[0], raised.value.problems


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b"[" * 100_000, json.dumps(results()).encode()[:-9]])
def test_any_other_file_gives_one_sentence(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "other.json"
    path.write_bytes(data)
    with pytest.raises(CatalogError) as raised:
        read(path)
    (problem,) = raised.value.problems
    assert "is not a results.json of TechEmpower's program" in problem and len(problem) < 400
    with pytest.raises(CatalogError, match="cannot read the file"):
        read(tmp_path / "missing.json")
