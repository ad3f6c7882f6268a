"""Tests that the results in a clone of HttpArena are read as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from httpbench import catalog
from httpbench.catalog.httparena_results import read_results
from httpbench.errors import CatalogError
from httpbench.model import Run, Trial
from tests.published import arena_row, write_arena

WORKLOADS = catalog.load().workloads


def read(clone: Path) -> tuple[Run, list[Trial]]:
    return read_results(clone, WORKLOADS, ("httpbench", "runs"), None)


def test_each_row_is_a_trial_and_targets_have_the_names_of_their_folders(tmp_path: Path) -> None:
    run, trials = read(write_arena(tmp_path, baseline_512=[arena_row(), arena_row("axum", rps=400_000)], baseline_h2_256=[arena_row()]))
    assert [(trial.plan.workload, trial.plan.target) for trial in trials] == [
        ("httparena-baseline", "rust/actix-web"),
        ("httparena-baseline", "rust/axum"),
        ("httparena-baseline-h2", "rust/actix-web"),
    ]
    assert run.workloads["httparena-baseline"] == WORKLOADS["httparena-baseline"]
    assert run.published == "httparena" and run.environment.cpu_model == "A processor"
    assert [(trial.plan.load.http2, trial.plan.load.tls) for trial in trials] == [(False, False), (False, False), (True, True)]


def test_a_row_keeps_its_throughput_and_its_counts(tmp_path: Path) -> None:
    row = arena_row(rps=294_864, status_2xx=11_817, status_5xx=1_462_506, reconnects=3, pipeline=16, avg_latency="0us", p99_latency="")
    _, (trial,) = read(write_arena(tmp_path, pipelined_512=[row]))
    measurement = trial.measurement
    assert measurement is not None and measurement.service_time_us is not None
    assert (measurement.throughput_rps, measurement.requests.completed, measurement.requests.ok) == (294_864, 1_474_323, 11_817)
    assert (measurement.errors, measurement.connections_opened) == ({"unexpected_status": 1_462_506}, 515)
    assert (measurement.service_time_us.mean, measurement.service_time_us.p99) == (0, None)
    assert (trial.plan.load.pipeline, trial.plan.load.duration_s) == (16, 5)


def test_rows_without_responses_are_skipped_and_machine_and_folders_may_be_missing(tmp_path: Path) -> None:
    write_arena(tmp_path, baseline_512=[arena_row(rps=0), arena_row("axum")])
    for name in ("frameworks", "current"):
        (tmp_path / f"site/data/{name}.json").unlink()
    run, trials = read(tmp_path)
    assert [trial.plan.target for trial in trials] == ["rust/axum"] and run.environment.cpu_model == "unknown"


@pytest.mark.parametrize(
    ("files", "problem"),
    [
        ({"baseline_512": "{"}, "baseline-512.json is not JSON"),
        ({"baseline_512": {}}, "baseline-512.json: must be an array"),
        ({"baseline_512": [arena_row(), 3]}, "baseline-512.json: row 2:"),
        ({"baseline_512": [arena_row(rps="many")]}, "row 1: rps:"),
        ({"baseline_512": [arena_row(duration="long")]}, "row 1: duration:"),
        ({"baseline_512": [arena_row(connections=0)]}, "row 1: connections:"),
        ({"baseline_512": 2 * [arena_row()]}, "row 2: a second row of actix"),
        ({"baseline_512": []}, "contains no results"),
        ({"baseline_512": [arena_row()], "frameworks": []}, "frameworks.json: must be an object"),
        ({"baseline_512": [arena_row()], "current": {"cpu": 3}}, "current.json: cpu: must be a string"),
        ({}, "contains no site/data/PROFILE-CONNECTIONS.json"),
    ],
)
def test_malformed_files_give_one_sentence(tmp_path: Path, files: dict[str, Any], problem: str) -> None:
    with pytest.raises(CatalogError) as raised:
        read(write_arena(tmp_path, **files))
    assert len(raised.value.problems) == 1 and problem in raised.value.problems[0], raised.value.problems
