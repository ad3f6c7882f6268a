"""Tests of the composite ranking below the tables."""

from __future__ import annotations

import json

from rich.console import Console

from httpbench.analysis.compared import composite_of
from httpbench.model import Load, Run, Trial
from httpbench.report.data.json import render_json
from httpbench.report.html import render_html
from httpbench.report.markdown.run import render_markdown
from httpbench.report.terminal.run import render_terminal
from tests.factories import make_rounds, make_run, make_target

FAST, SLOW = "go/fast", "go/slow"


def measured(*workloads: str, only_fast: str | None = None) -> tuple[Run, list[Trial]]:
    """Make a run in which one target has half the throughput of the other, and in which both are slower with fewer connections."""
    trials: list[Trial] = []
    for workload in workloads:
        for target, rps in ((FAST, 1000.0), (SLOW, 500.0)):
            for connections, share in ((16, 0.7), (64, 1.0)):
                plan = {"workload": workload, "load": Load(connections=connections)}
                if target == FAST or workload != only_fast:
                    trials += make_rounds(target, [rps * share, rps * share * 1.1, rps * share], plan=plan)
    return make_run(trials, {target: make_target(target) for target in (FAST, SLOW)}), trials


def shown(run: Run, trials: list[Trial]) -> str:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(render_terminal(run, trials, width=80))
    return captured.get()


def test_each_target_is_scored_at_its_best_load() -> None:
    found = composite_of(measured("json", "db")[1])
    assert found is not None
    assert [(score.target, round(score.percent), score.rounds) for score in found.scores] == [(FAST, 100, 3), (SLOW, 50, 3)]


def test_a_terminal_of_80_columns_shows_it_below_the_tables() -> None:
    text = shown(*measured("json", "db"))
    ranking = text[text.index("Composite score, with TechEmpower's weights") :]
    assert "% of best" in ranking and "50.0 – 50.0" in ranking.replace("50 – 50", "50.0 – 50.0")
    assert "Weighted geometric mean: json 1, db 0.75." in ranking and "Not measured: plaintext, query-20, fortune, update-20." in " ".join(
        ranking.split()
    )
    assert all(len(line.rstrip()) <= 80 for line in ranking.splitlines())


def test_pages_show_it_below_the_tables() -> None:
    assert "| go/fast |     100.0 |" in render_markdown(*measured("json", "db")).replace("       100 |", "     100.0 |")
    page = render_html(*measured("json", "db"))
    assert '<a href="#composite">' in page and "Weighted geometric mean: json 1, db 0.75." in page[page.index('<section id="composite"') :]
    assert "composite" not in render_html(*measured("json")).split('id="download"')[0]


def test_a_target_that_lacks_a_test_is_listed() -> None:
    run, trials = measured("json", "db", "fortune", only_fast="fortune")
    assert composite_of(trials) is None, "one target is no ranking"
    assert "Composite" not in shown(run, trials)


def test_json_has_the_scores_or_null() -> None:
    found = json.loads(render_json(*measured("json", "db")))["composite"]
    assert [score["target"] for score in found["scores"]] == [FAST, SLOW] and found["tests"] == ["json", "db"]
    assert json.loads(render_json(*measured("json")))["composite"] is None
