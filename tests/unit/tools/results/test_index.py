"""Tests of the index of all results."""

from __future__ import annotations

from pathlib import Path

import zstandard
from markdown_it import MarkdownIt

from httpbench.model import Run, Trial
from httpbench.report.data.json import render_json
from tests.factories import make_environment, make_mixed_run, make_rounds, make_run
from tools.results.index import index_page, read_results
from tools.results.machine import machine_name


def write(results: Path, run: Run, trials: list[Trial], suite: str) -> None:
    folder = results / machine_name(run.environment) / suite
    folder.mkdir(parents=True)
    (folder / "run.json.zst").write_bytes(zstandard.compress(render_json(run, trials).encode()))
    for name in ("analysis.md", "report.html", "table.md"):
        (folder / name).touch()


def test_each_suite_of_each_machine_has_a_line(tmp_path: Path) -> None:
    write(tmp_path, *make_mixed_run(), "quick")
    write(tmp_path, *make_mixed_run(), "http-servers")
    trials = make_rounds("c/epoll/level", (1, 1, 1))
    environment = make_environment(cpu_model="](http://x)<img src=x onerror=alert(1)>", virtualization="kvm")
    write(tmp_path, make_run(trials, environment=environment), trials, "quick")
    page = index_page(tmp_path, read_results(tmp_path))
    lines = [line for line in page.splitlines() if line.startswith("- ")]
    assert ["**quick**" in line for line in lines].count(True) == 2 and len(lines) == 3
    assert all(", 2026-11-21: " in line for line in lines)
    links = [token.attrs["href"] for block in MarkdownIt().parse(page) for token in block.children or [] if token.type == "link_open"]
    assert len(links) == 12 and all((tmp_path / str(link)).is_file() for link in links)
    assert "<img" not in page


def test_without_results_the_index_says_so(tmp_path: Path) -> None:
    assert index_page(tmp_path, read_results(tmp_path)).endswith("No suite was measured yet.\n")
