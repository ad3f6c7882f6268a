"""Tests of the pages that quote results."""

from __future__ import annotations

from pathlib import Path

import zstandard

from httpbench.model import Run, Trial
from httpbench.report.data.json import render_json
from tests.factories import make_mixed_run
from tools.results.pages import write_pages

SAMPLE = "# Ours\n\n<!-- sample of results: quick -->\nOld.\n<!-- end of sample -->\n\nMore.\n"
TABLE = "| Target | Published | Here | Rank |\n| - | - | - | - |\n| `c/epoll/level` | 1 | | |\n"
BLOCK = f"<!-- results: quick -->\n{TABLE}<!-- end of results -->\n"


def render(run: Run, trials: object) -> str:
    return f"tables of {run.id}"


def write_run(repository: Path, run: Run, trials: list[Trial], *, charts: bool = True) -> None:
    folder = repository / "results" / "machine" / "quick"
    folder.mkdir(parents=True)
    (folder / "run.json.zst").write_bytes(zstandard.compress(render_json(run, trials).encode()))
    for name in ("chart-light.svg", "chart-dark.svg") if charts else ():
        (folder / name).touch()


def test_each_page_quotes_the_results(tmp_path: Path) -> None:
    write_run(tmp_path, *make_mixed_run())
    (tmp_path / "README.md").write_text(SAMPLE)
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "published.md").write_text(BLOCK)
    written = write_pages(tmp_path / "results", render)
    assert [path.name for path in written] == ["README.md", "published.md", "README.md"]
    readme = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert "```\ntables of 20261121T080000-c0de\n```\n<!-- end of sample -->\n\nMore.\n" in readme and "Old." not in readme
    assert 'src="results/machine/quick/chart-light.svg"' in readme
    assert "2026-11-21, AMD EPYC" in readme and "(results/machine/quick/analysis.md)" in readme
    assert "| `c/epoll/level` | 1 | 409,900" in (tmp_path / "docs" / "published.md").read_text(encoding="utf-8")
    assert "[**quick**](machine/quick/analysis.md)" in (tmp_path / "results" / "README.md").read_text(encoding="utf-8")
    before = {path: path.read_bytes() for path in written}
    write_pages(tmp_path / "results", render)
    assert {path: path.read_bytes() for path in written} == before


def test_without_charts_a_sample_has_no_picture(tmp_path: Path) -> None:
    write_run(tmp_path, *make_mixed_run(), charts=False)
    (tmp_path / "README.md").write_text(SAMPLE)
    write_pages(tmp_path / "results", render)
    assert "<picture>" not in (tmp_path / "README.md").read_text(encoding="utf-8")


def test_a_sample_without_results_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "results").mkdir()
    (tmp_path / "README.md").write_text(SAMPLE)
    write_pages(tmp_path / "results", render)
    assert (tmp_path / "README.md").read_text(encoding="utf-8") == SAMPLE
