"""Tests of tables that show published results next to our own."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from httpbench import catalog
from httpbench.analysis.published import beside
from httpbench.catalog.techempower_results import read_results
from httpbench.model import Entry, Load, Run, Trial
from httpbench.report.terminal.published import render_beside
from tests.factories import make_rounds, make_run, make_target
from tests.published import write_results


@pytest.fixture
def theirs(tmp_path: Path) -> tuple[Run, list[Trial]]:
    return read_results(write_results(tmp_path / "results.json"), catalog.load().workloads, (), None)


def ours(**rps: float) -> tuple[Run, list[Trial]]:
    """Make a run in containers, under a load that differs from the published one.

    Each keyword is a published name, with ``_`` in place of a hyphen.
    """
    trials: list[Trial] = []
    targets = {}
    for name, figure in rps.items():
        entry = Entry(catalogue="techempower", name=name.replace("_", "-"), display_name=name)
        target = make_target(f"go/{name}", entry=entry)
        targets[target.id] = target
        trials += make_rounds(target.id, [figure, figure * 1.1, figure * 0.9], plan={"workload": "json", "load": Load(connections=64)})
    return make_run(trials, targets), trials


def test_targets_are_matched_by_published_name_at_their_best_load(theirs: tuple[Run, list[Trial]]) -> None:
    (found,) = beside(theirs, ours(gin=4000.0, axum=3000.0, go_std=5000.0, other=1.0))
    assert found.workload == "json"
    assert [(row.name, row.theirs_rps, row.ours_rps) for row in found.pairs] == [
        ("axum", 22_000, 3000),
        ("go-std", 18_000, 5000),
        ("gin", 12_000, 4000),
    ]
    assert found.correlation == pytest.approx(-0.5)


def test_the_table_fits_a_terminal_and_lists_differences(theirs: tuple[Run, list[Trial]]) -> None:
    console = Console(width=80, record=True, file=None, quiet=False)
    with console.capture() as captured:
        console.print(render_beside(theirs, ours(gin=4000.0, axum=3000.0, go_std=5000.0), 80))
    text = captured.get()
    assert "json: 3 targets in both runs; rank correlation -0.50" in text
    assert all(len(line.rstrip()) <= 80 for line in text.splitlines())
    assert "load generator: theirs wrk; ours" in text and "rounds: theirs 1; ours 3" in text
    assert "Published results have no interval" in " ".join(text.split())


def test_runs_with_nothing_in_common_say_so(theirs: tuple[Run, list[Trial]]) -> None:
    console = Console(width=80)
    with console.capture() as captured:
        console.print(render_beside(theirs, ours(nobody=1.0), 80))
    assert "no target and workload in common" in captured.get()
