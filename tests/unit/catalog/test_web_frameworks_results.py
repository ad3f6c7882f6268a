"""Tests that a published ``data.json`` of the-benchmarker/web-frameworks is read as a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from httpbench import catalog
from httpbench.catalog.web_frameworks_results import read_results
from httpbench.errors import CatalogError
from httpbench.model import Measurement, Run, Trial
from tests.published import LATER_METRICS, WRK_METRICS, web_frameworks

WORKLOADS = catalog.load().workloads


def read(folder: Path, data: Any) -> tuple[Run, list[Trial]]:
    path = folder / "data.json"
    path.write_text(data if isinstance(data, str) else json.dumps(data))
    return read_results(path, WORKLOADS, ("httpbench", "runs"), None)


def measured(trial: Trial) -> Measurement:
    assert trial.measurement is not None
    return trial.measurement


def test_each_level_of_each_framework_is_a_trial_of_the_three_requests(tmp_path: Path) -> None:
    run, trials = read(tmp_path, web_frameworks(WRK_METRICS, levels=(64, 512)))
    assert [(trial.plan.target, trial.plan.load.connections) for trial in trials] == [
        ("go/gin", 64),
        ("rust/axum", 64),
        ("go/gin", 512),
        ("rust/axum", 512),
    ]
    (workload,) = run.workloads.values()
    assert [part.name for part in workload.parts] == ["web-frameworks-index", "web-frameworks-user", "web-frameworks-create"]
    assert (run.published, run.started_at, run.environment.cpu_model) == ("web-frameworks", "2026-02-11T23:25:12.000Z", "A processor")
    assert run.id.startswith("20260211T232512-")


@pytest.mark.parametrize("values", [WRK_METRICS, LATER_METRICS])
def test_both_kinds_of_units_give_the_same_times(tmp_path: Path, values: dict[str, float]) -> None:
    _, (first, _) = read(tmp_path, web_frameworks(values))
    found = measured(first)
    times = found.service_time_us
    assert times is not None
    assert (times.p50, times.p75, times.p90, times.p99) == pytest.approx((900, 1200, 1500, 2100))
    assert found.throughput_rps == 64_000 and found.duration_s == pytest.approx(15.05, rel=0.01) and first.plan.load.duration_s == 15


def test_minus_one_and_null_are_unknown(tmp_path: Path) -> None:
    _, (first, _) = read(tmp_path, web_frameworks({**LATER_METRICS, "percentile99": None}))  # type: ignore[dict-item]
    found = measured(first)
    assert found.service_time_us is not None and (found.service_time_us.mean, found.service_time_us.p99) == (None, None)
    assert not found.counts_errors and not first.plan.load.keepalive
    assert found.requests.completed == round(64_000 * 15.036)


def test_errors_are_counted(tmp_path: Path) -> None:
    _, (first, _) = read(tmp_path, web_frameworks({**WRK_METRICS, "http_errors": 480, "socket_read_errors": 2, "socket_write_errors": 1}))
    found = measured(first)
    assert found.counts_errors and found.errors == {"unexpected_status": 480, "reset": 3}
    assert (found.requests.completed, found.requests.ok) == (964_480, 964_000)


def test_frameworks_without_responses_have_no_trial(tmp_path: Path) -> None:
    data = web_frameworks(WRK_METRICS)
    for metric in data["metrics"]:
        if metric["framework_id"] == 7 and metric["label"] == "total_requests_per_s":
            metric["value"] = 0
    run, trials = read(tmp_path, data)
    assert [trial.plan.target for trial in trials] == ["go/gin"] and set(run.targets) == {"go/gin"}


GIN = {"id": 1, "label": "gin", "language": "go"}


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"metrics": []}, "metrics: must not be empty"),
        ({"frameworks": [GIN]}, "metrics.18.framework_id: no framework has the id 7"),
        ({"frameworks": [GIN, {**GIN, "id": 7}]}, "a second framework with the id 7 or the name gin"),
        ({"updated_at": "yesterday"}, "yesterday"),
        ({"metrics": [{"level": 0, "label": "x", "value": 1, "framework_id": 1}]}, "metrics[0].level:"),
        ({"metrics": [{"level": 64, "label": "x", "value": 1e30, "framework_id": 1}]}, "metrics[0].value:"),
        ({"metrics": 2 * [{"level": 64, "label": "x", "value": 1, "framework_id": 1}]}, "metrics.1: a second x of framework 1 at level 64"),
        ({"metrics": [{"level": 64, "label": "x", "value": 1, "framework_id": 1}]}, "no framework has a duration_ms"),
        ({"metrics": [{"level": 64, "label": "duration_ms", "value": 1e15, "framework_id": 1}]}, "is too long"),
        ({"metrics": [{"level": 64, "label": "duration_ms", "value": 15, "framework_id": 1}]}, "contains no results"),
    ],
)
def test_a_malformed_file_gives_one_sentence(tmp_path: Path, changes: dict[str, Any], problem: str) -> None:
    with pytest.raises(CatalogError) as raised:
        read(tmp_path, web_frameworks(WRK_METRICS, **changes))
    assert len(raised.value.problems) == 1 and problem in raised.value.problems[0], raised.value.problems


@pytest.mark.parametrize("text", ["", "[]", "{}", "[" * 100_000, json.dumps(web_frameworks(WRK_METRICS))[:-9]])
def test_any_other_file_gives_one_sentence(tmp_path: Path, text: str) -> None:
    with pytest.raises(CatalogError) as raised:
        read(tmp_path, text)
    (problem,) = raised.value.problems
    assert "is not a data.json of web-frameworks" in problem and len(problem) < 400
