"""Whiskers of clients hold what their tables hold. What they look like is for eyes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.model import ClientWork, Kind, Run, Table, Trial, Verdict, VerdictKind, Workload
from httpbench.report.charts import write_charts
from httpbench.report.charts.clients import charts
from httpbench.report.hyperfine import render_hyperfine
from tests.factories import make_client, make_failed, make_mixed_run, make_plan, make_run, make_target, make_trial

TARGET = Verdict(kind=VerdictKind.TARGET)
TIMES_S = {"client:c/curl": (0.11, 0.12, 0.10), "client:golang/http-client": (0.21, 0.2, 0.25)}


def client_run() -> tuple[Run, list[Trial]]:
    trials = []
    for name, times_s in TIMES_S.items():
        for index, wall_s in enumerate(times_s):
            plan = make_plan(name, round_=index, workload="client-small-1000")
            trials.append(make_trial(plan, TARGET, measurement=None, target_usage=None, client=make_client(wall_s, startup_s=0.01)))
    trials.append(make_failed(make_plan("client:rust/hyper", workload="client-small-1000"), "crashed"))
    targets = {name: make_target(name.removeprefix("client:"), id=name, kind=Kind.CLIENT) for name in (*TIMES_S, "client:rust/hyper")}
    workload = Workload(name="client-small-1000", description="", client=ClientWork(requests=1000))
    return make_run(trials, targets, table=Table.HTTP_CLIENTS, workloads={workload.name: workload}), trials


def test_whiskers_hold_each_round_of_the_rows_that_count() -> None:
    (chart,) = charts(*client_run()).values()
    (values,) = chart.to_dict()["datasets"].values()
    assert sorted(value["time_ms"] for value in values) == pytest.approx(sorted(1000 * one for times in TIMES_S.values() for one in times))
    assert {value["command"] for value in values} == {"c/curl", "golang/http-client"}


def test_each_chart_is_written_for_light_and_dark_pages(tmp_path: Path) -> None:
    paths = write_charts(*client_run(), tmp_path / "new" / "folder")
    assert sorted(path.name for path in paths) == [
        f"whiskers-client-small-1000-{form}.{ending}" for form in ("dark", "light") for ending in ("png", "svg")
    ]
    for path in paths:
        content = path.read_bytes()
        assert content.startswith(b"\x89PNG" if path.suffix == ".png" else b"<svg")
    light, dark = (next(path for path in paths if path.name.endswith(f"{form}.svg")).read_text() for form in ("light", "dark"))
    assert "c/curl" in light
    assert "http://" not in light.replace("http://www.w3.org/", ""), "nothing is fetched"
    assert "#1f2328" in light, "dark text on a light page"
    assert "#e6edf3" in dark
    assert "#1f2328" not in dark


def test_hyperfines_form_has_the_rows_that_count() -> None:
    results = json.loads(render_hyperfine(*client_run()))["results"]
    assert [one["command"] for one in results] == ["c/curl", "golang/http-client"]
    assert results[0]["times"] == list(TIMES_S["client:c/curl"])
    assert results[0]["mean"] == pytest.approx(0.11)
    with pytest.raises(UsageError, match="no clients"):
        render_hyperfine(*make_mixed_run())
