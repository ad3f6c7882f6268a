"""Tests of the folder of a run in ``results``."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.errors import UsageError
from httpbench.report.data.json import render_json
from httpbench.report.data.read_json import read_export
from httpbench.report.html import render_html
from tests.factories import make_mixed_run
from tools.results.folder import rewrite, write_folder

pytestmark = pytest.mark.slow

FILES = {"analysis.md", "chart-dark.svg", "chart-light.svg", "report.html", "run.json.zst", "table.md"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = tmp_path_factory.mktemp("results")
    return write_folder(render_json(*make_mixed_run()).encode(), results, "quick")


def test_a_folder_contains_report_tables_data_charts_and_analysis(folder: Path) -> None:
    assert folder.name == "quick"
    assert {path.name for path in folder.iterdir()} == FILES
    assert [path.name for path in folder.parent.parent.iterdir()] == [folder.parent.name], "nothing is left of what was new"


def test_the_report_matches_the_data_beside_it(folder: Path) -> None:
    assert (folder / "report.html").read_text(encoding="utf-8") == render_html(*read_export(folder / "run.json.zst"))
    assert render_json(*read_export(folder / "run.json.zst")) == render_json(*make_mixed_run())


@pytest.mark.parametrize("name", ["table.md", "analysis.md"])
def test_pages_start_with_the_command(folder: Path, name: str) -> None:
    assert "```\n$ httpbench bench\n```" in (folder / name).read_text(encoding="utf-8")


def test_an_invalid_export_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "machine" / "quick").mkdir(parents=True)
    with pytest.raises(UsageError, match="not a JSON export"):
        write_folder(b"{}", tmp_path, "quick")
    assert [path.name for path in tmp_path.iterdir()] == ["machine"]


def test_pages_can_be_written_again_from_the_data(tmp_path: Path) -> None:
    skipped = ("nim/httpbeast: requires nim ≥ 1.6",)
    folder = write_folder(render_json(*make_mixed_run()).encode(), tmp_path, "quick", skipped)
    pages = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert skipped[0].encode() in pages["analysis.md"]
    for name in ("analysis.md", "report.html"):
        (folder / name).write_text("old")
    rewrite(folder)
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == pages
