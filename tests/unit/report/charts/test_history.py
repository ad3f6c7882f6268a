"""Tests that the chart of a history contains the same data as its table. Its appearance is checked by eye."""

from __future__ import annotations

import re
from pathlib import Path

from httpbench.analysis.history import histories
from httpbench.report.charts import add, write_histories
from httpbench.report.charts.history import of_series
from httpbench.store import Store
from tests.factories import make_environment
from tests.histories import SEVERAL, A, fall, keep, rounds


def test_each_run_is_a_row_and_each_change_has_a_label(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        fall(store)
        drawing = of_series(histories(store, A)[0])
    assert len(drawing.rows) == 2 * SEVERAL
    assert [row[0] for row in drawing.rows if row[-1]] == [str(SEVERAL + 1)]
    assert drawing.rows[SEVERAL][-1].startswith("▼ -")
    assert "▼ -" in str(drawing.chart.to_dict()["datasets"])


def test_charts_have_the_usual_size_and_show_the_newest_environment(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        fall(store)
        keep(store, 100, rounds(90_000), environment=make_environment(kernel="5.10"))
        found = [series for series in histories(store, A) if series.figure == "rps"]
    paths = write_histories(found, tmp_path)
    assert [path.name for path in paths][:2] == [f"history-c-a-plaintext-single-64c-rps-light.{suffix}" for suffix in ("svg", "png")]
    assert len(paths) == 4
    height = re.search(r'height="(\d+)"', paths[0].read_text())
    assert height
    assert int(height[1]) < 500


def test_duplicate_names_are_numbered() -> None:
    drawn: dict[str, int] = {}
    add(drawn, [("a", 1), ("b", 2), ("a", 3)])
    assert drawn == {"a": 1, "b": 2, "a--2": 3}
