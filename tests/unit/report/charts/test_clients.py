"""Tests that box plots of clients contain the same data as their tables. Their appearance is checked by eye."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.report.charts import write_charts
from httpbench.report.charts.run import of_run
from httpbench.report.data.hyperfine import render_hyperfine
from tests.factories import make_mixed_run
from tests.made_runs import CLIENT_TIMES_S, make_clients_run


def test_box_plots_contain_every_round_of_rows_that_count() -> None:
    (drawing,) = of_run(*make_clients_run()).values()
    (values,) = drawing.chart.to_dict()["datasets"].values()
    expected = sorted(1000 * one for times in CLIENT_TIMES_S.values() for one in times)
    assert sorted(value["time_ms"] for value in values) == pytest.approx(expected)
    assert {value["command"] for value in values} == {"c/curl", "golang/http-client"} == {row[0] for row in drawing.rows}


def test_each_chart_is_written_for_light_and_dark_pages(tmp_path: Path) -> None:
    paths = write_charts(*make_clients_run(), tmp_path / "new" / "folder")
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


def test_the_hyperfine_format_has_the_rows_that_count() -> None:
    results = json.loads(render_hyperfine(*make_clients_run()))["results"]
    assert [one["command"] for one in results] == ["c/curl", "golang/http-client"]
    assert results[0]["times"] == list(CLIENT_TIMES_S["client:c/curl"])
    assert results[0]["mean"] == pytest.approx(0.11)
    with pytest.raises(UsageError, match="no clients"):
        render_hyperfine(*make_mixed_run())
