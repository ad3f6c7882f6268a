"""Tests that the pages of a run in progress read each trial once and summarize only the cells that have a new trial."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from httpbench.analysis import groups as analysis
from httpbench.model import Load, Run, RunStatus, Trial
from httpbench.stats.summary import Summary, summarize
from httpbench.store import Store
from httpbench.web import measured, runs
from httpbench.web.export import export
from httpbench.web.frame import NotFound, Page
from httpbench.web.site import Site
from tests.dashboards import add_run, make_rounds_of
from tests.factories import make_plan, make_run, make_trial


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the models that are parsed, in order."""
    found: list[str] = []
    for model in (Run, Trial):
        parse = model.model_validate

        def count(text: object, *, name: str = model.__name__, parse: Any = parse) -> Any:
            found.append(name)
            return parse(text)

        monkeypatch.setattr(model, "model_validate", count)
    return found


def test_each_trial_of_a_run_in_progress_is_parsed_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str]) -> None:
    monkeypatch.setattr(measured, "TRIALS_MAX", 2)
    db = tmp_path / "results.db"
    trials = make_rounds_of("c/a", "c/b", rounds=5)
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), [])
    site = Site(db)
    for number, trial in enumerate(trials, 1):
        with Store(db) as store:
            store.add("r", trial)
        assert f"{number} of 10 trials" in site.page("runs/r.html").content
        assert "Latest trials" in site.results("r")
        site.page("runs/r/table-1.svg")
    with Store(db) as store:
        store.finish("r", RunStatus.FINISHED, "2026-11-21T09:00:00.000Z")
    assert "Latest trials" not in site.page("runs/r.html").content
    assert parsed == ["Run", *["Trial"] * 10]


def test_two_runs_above_the_limit_are_parsed_once_for_their_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str]
) -> None:
    monkeypatch.setattr(measured, "TRIALS_MAX", 2)
    for name in ("r1", "r2"):
        add_run(tmp_path / "results.db", make_run(make_rounds_of("c/a"), id=name), make_rounds_of("c/a"))
    site = Site(tmp_path / "results.db")
    for path in ("compare/r1/r2.html", "compare/r1/r2/rps.svg", "compare/r2/r1.html"):
        site.page(path)
    assert parsed.count("Trial") == 6


def test_a_run_in_progress_shows_the_same_results_as_one_read_at_once(tmp_path: Path) -> None:
    db = tmp_path / "results.db"
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:1])
    site = Site(db)
    for trial in (trials[3], trials[1], trials[2]):
        site.results("r")
        with Store(db) as store:
            store.add("r", trial)
    assert site.results("r") == Site(db).results("r")


def test_a_new_trial_summarizes_its_cell_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    summarized: list[str] = []

    def count(trials: Sequence[Trial], *, invalid: bool = False) -> Summary:
        summarized.append(trials[0].plan.target)
        return summarize(trials, invalid=invalid)

    monkeypatch.setattr(analysis, "summarize", count)
    monkeypatch.setattr(measured, "summarize", count)
    db = tmp_path / "results.db"
    trials = make_rounds_of("c/a", "c/b")
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:4])
    site = Site(db)
    site.results("r")
    assert summarized == ["c/a", "c/b"]
    with Store(db) as store:
        store.add("r", trials[4])
    site.results("r")
    assert summarized == ["c/a", "c/b", "c/a"]


def test_streams_of_one_run_share_its_results(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    results_part = runs.results_part

    def count(*values: Any) -> Any:
        made.append(1)
        return results_part(*values)

    monkeypatch.setattr(runs, "results_part", count)
    trials = make_rounds_of("c/a")
    add_run(tmp_path / "results.db", make_run(trials, id="r", status=RunStatus.RUNNING), trials[:2])
    site = Site(tmp_path / "results.db")
    assert site.results("r") == site.results("r")
    assert len(made) == 1


def test_the_chart_of_a_table_is_drawn_again_only_when_the_table_has_a_new_trial(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[str] = []

    def chart(*values: Any) -> Page:
        drawn.append(values[-1])
        return Page("<svg/>", "image/svg+xml")

    monkeypatch.setattr(runs, "chart", chart)
    db = tmp_path / "results.db"
    trials = [
        trial.model_copy(
            update={
                "plan": trial.plan.model_copy(update={"load": trial.plan.load.model_copy(update={"connections": 8 * (1 + number % 2)})})
            }
        )
        for number, trial in enumerate(make_rounds_of("c/a", rounds=4))
    ]
    add_run(db, make_run(trials, id="r", status=RunStatus.RUNNING), trials[:2])
    site = Site(db)
    for _ in range(2):
        for number in (1, 2):
            site.page(f"runs/r/table-{number}.svg")
    assert drawn == ["table-1", "table-2"]
    with Store(db) as store:
        store.add("r", trials[2])
    for number in (1, 2):
        site.page(f"runs/r/table-{number}.svg")
    assert drawn == ["table-1", "table-2", "table-1"]


def test_a_page_of_a_large_run_reads_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, parsed: list[str]) -> None:
    monkeypatch.setattr(measured, "PAGE_TRIALS_MAX", 5)
    db = tmp_path / "results.db"
    loads = [Load(connections=connections, threads=1) for connections in (64, 8)]
    trials = [
        make_trial(make_plan(load=load, number=2 * round_ + index, round_=round_))
        for round_ in range(3)
        for index, load in enumerate(loads)
    ]
    repeated = make_trial(make_plan(load=loads[0], number=6, round_=2, attempt=1))
    run = make_run(trials, id="r", status=RunStatus.RUNNING)
    add_run(db, run, trials[:1])
    site = Site(db)
    page = site.page("runs/r.html").content
    assert "1 of 6 trials" in page
    assert "64 connections" in page and "8 connections" not in page.replace("64 connections", "")
    with Store(db) as store:
        for trial in (*trials[1:], repeated):
            store.add("r", trial)
        store.finish("r", RunStatus.FINISHED, "2026-11-21T09:00:00.000Z")
    page = site.page("runs/r.html").content
    assert page.index('table-1.html">plaintext · target on one core · 8 connections') < page.index('table-2.html">plaintext')
    assert "3 trials" in page and "4 trials" in page and "0 of" not in page
    parsed.clear()
    page = site.page("runs/r/table-1.html").content
    assert parsed == ["Trial"] * 3
    assert "median of 3 rounds" in page and "64 connections" not in page
    assert site.page("runs/r/table-1.html").content == page
    assert site.page("runs/r/table-1/table-1.svg").media_type == "image/svg+xml"
    assert parsed == ["Trial"] * 3
    for missing in ("runs/r/table-3.html", "runs/r/report.html", "compare/r/r.html"):
        with pytest.raises(NotFound, match="httpbench report r"):
            site.page(missing)
    assert export(db, tmp_path / "site", 10, lambda path: None) == len([*(tmp_path / "site").rglob("*.*")])
    monkeypatch.setattr(measured, "TABLE_TRIALS_MAX", 3)
    monkeypatch.setattr(runs, "TABLE_TRIALS_MAX", 3)
    page = Site(db).page("runs/r.html").content
    assert "table-1.html" in page and "table-2.html" not in page
