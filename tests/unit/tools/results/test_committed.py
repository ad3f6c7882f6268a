"""Tests of the committed results: the pages match the data, and the ranks match the sentences."""

from __future__ import annotations

from pathlib import Path

import pytest

from httpbench.analysis.compared import ahead, ranking
from httpbench.analysis.groups import groups
from httpbench.paths import root
from tests.committed import FOLDERS, results
from tools.results.analysis import MARK, analysis_page
from tools.results.folder import ANALYSIS, CHARTS, SKIPPED, TABLE, table_page
from tools.results.hand_written import stale_pages
from tools.results.pages import PUBLISHED

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_pages_follow_from_the_data(folder: Path) -> None:
    run, trials = results(folder)
    skipped = (folder / SKIPPED).read_text(encoding="utf-8").splitlines() if (folder / SKIPPED).exists() else []
    charts = CHARTS if (folder / CHARTS[0]).exists() else ()
    table, analysis = ((folder / name).read_text(encoding="utf-8") for name in (TABLE, ANALYSIS))
    hint = "run: make results RESULTS_FLAGS=--pages-only"
    assert table == table_page(run, trials, folder.name), hint
    assert analysis == analysis_page(run, trials, folder.name, charts, skipped, before=f"{MARK}{analysis.partition(MARK)[2]}"), hint


def test_hand_written_parts_quote_figures_of_their_runs() -> None:
    assert list(stale_pages(FOLDERS, (root() / PUBLISHED).read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_rank_agrees_with_every_comparison(folder: Path) -> None:
    """A row's range of ranks excludes exactly the places of the rows that a sentence would call faster or slower."""
    for group in groups(*results(folder)):
        places = ranking(group)
        rows = [row for row in group.rows if row.target.id in places]
        best, worst = dict.fromkeys(places, 1), dict.fromkeys(places, len(places))
        for ours in rows:
            for compared in ahead(group, ours, [row for row in rows if row is not ours]):
                ((figure, comparison),) = compared.figures.items()
                if comparison is not None and comparison.ratio > 1 and compared.holds(figure):
                    best[compared.baseline.target.id] += 1
                    worst[ours.target.id] -= 1
        assert {name: (rank.best, rank.worst) for name, rank in places.items()} == {name: (best[name], worst[name]) for name in places}
