"""Tests of the pages that quote results."""

from __future__ import annotations

from pathlib import Path

import zstandard

from httpbench.model import Run, Trial
from httpbench.report.data.json import render_json
from tests.factories import make_mixed_run
from tools.results.pages import write_pages

TABLE = "| Target | Published | Here | Rank |\n| - | - | - | - |\n| `c/epoll/level` | 1 | | |\n"
BLOCK = f"<!-- results: quick -->\n{TABLE}<!-- end of results -->\n"


def write_run(repository: Path, run: Run, trials: list[Trial]) -> None:
    folder = repository / "results" / "machine" / "quick"
    folder.mkdir(parents=True)
    (folder / "run.json.zst").write_bytes(zstandard.compress(render_json(run, trials).encode()))


def test_each_page_quotes_the_results(tmp_path: Path) -> None:
    write_run(tmp_path, *make_mixed_run())
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "published.md").write_text(BLOCK)
    written = write_pages(tmp_path / "results")
    assert [path.name for path in written] == ["README.md", "published.md"]
    assert "| `c/epoll/level` | 1 | 409,900" in (tmp_path / "docs" / "published.md").read_text(encoding="utf-8")
    assert "[**quick**](machine/quick/analysis.md)" in (tmp_path / "results" / "README.md").read_text(encoding="utf-8")
    before = {path: path.read_bytes() for path in written}
    write_pages(tmp_path / "results")
    assert {path: path.read_bytes() for path in written} == before
