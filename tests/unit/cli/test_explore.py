"""Tests of ``httpbench explore``: which runs it reads, and the links to their reports."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
import zstandard
from click.testing import CliRunner

from httpbench.cli.verbs.explore import explore
from httpbench.errors import SelectionError, UsageError
from httpbench.report.data.json import render_json
from httpbench.store import Store
from tests.dashboards import make_rounds_of
from tests.factories import make_rounds, make_run


def explored(tmp_path: Path, *words: str) -> dict[str, Any]:
    page = tmp_path / "site" / "explorer.html"
    page.parent.mkdir(exist_ok=True)
    done = CliRunner().invoke(explore, [*words, "-o", str(page), "--db", str(tmp_path / "my.db")], catch_exceptions=False)
    assert (done.exit_code, done.output) == (0, f"{page}\n")
    (found,) = re.findall(r'id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.DOTALL)
    data: dict[str, Any] = json.loads(found)
    return data


def test_a_folder_gives_every_run_below_it_with_reports_and_skipped_targets(tmp_path: Path) -> None:
    trials = make_rounds("c/a", (1000, 1010, 1020))
    for place in ("m/quick", "m/tls", "n/tls"):
        folder = tmp_path / "results" / place
        folder.mkdir(parents=True)
        (folder / "run.json.zst").write_bytes(zstandard.compress(render_json(make_run(trials), trials).encode()))
    (tmp_path / "results/m/quick/skipped.txt").write_text("c/b: requires gcc\n")
    (tmp_path / "results/m/quick/report.html").touch()
    data = explored(tmp_path, str(tmp_path / "results"))
    assert [run["name"] for run in data["runs"]] == ["quick", "m/tls", "n/tls"]
    assert [run["report"] for run in data["runs"]] == ["../results/m/quick/report.html", None, None]
    assert [target["id"] for target in data["targets"]] == ["c/a", "c/b"]


def test_without_arguments_the_stored_runs_are_explored(tmp_path: Path) -> None:
    trials = make_rounds_of("c/a")
    with Store(tmp_path / "my.db") as store:
        for name in ("r1", "r2"):
            store.begin(make_run(trials, id=name))
            for trial in trials if name == "r1" else ():
                store.add(name, trial)
    assert [run["name"] for run in explored(tmp_path)["runs"]] == ["r1"]
    assert [run["name"] for run in explored(tmp_path, "r1", "r1")["runs"]] == ["r1", "r1 2"]


def test_nothing_to_explore_is_an_error(tmp_path: Path) -> None:
    for words, message in ((["--db", str(tmp_path / "none.db")], "has no run"), ([str(tmp_path)], "contains no run.json.zst")):
        with pytest.raises(SelectionError, match=message):
            CliRunner().invoke(explore, words, catch_exceptions=False)


def test_a_link_is_not_overwritten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("victim").write_text("precious")
    Path("explorer.html").symlink_to("victim")
    with pytest.raises(UsageError, match=r"explorer\.html is a link"):
        CliRunner().invoke(explore, ["--db", str(tmp_path / "my.db")], catch_exceptions=False)
    assert Path("victim").read_text() == "precious"
