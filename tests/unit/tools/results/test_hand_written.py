"""Tests that the figures quoted in the hand-written part of a page are checked."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools.results.analysis import MARK
from tools.results.folder import ANALYSIS, TABLE
from tools.results.hand_written import stale_figures, stale_pages

GENERATED = "| c/nginx | ≥ 153,900 | 2,474 | 1,234.5 | 88.5 ± 3.2 % | 1.06 ± 0.02 times |"


@pytest.mark.parametrize(
    ("written", "stale"),
    [
        ("153,900 requests/s", []),
        ("about 154,000 or 150,000 requests/s", []),
        ("2,500 µs, 2,474 µs, 2,470 µs", []),
        ("1,235 and 1,234.5", []),
        ("153,000 requests/s, again 153,000", ["153,000"]),
        ("2,475 µs", ["2,475"]),
        ("3 of 4 targets with 64 connections", []),
        ("88% to 89% of 900, about 1.1 times", []),
        ("87 to 89%", ["87"]),
        ("1.33 ± 0.23 times", ["1.33", "0.23"]),
        ("750 requests/s", ["750"]),
    ],
)
def test_a_figure_may_be_rounded_but_not_changed(written: str, stale: list[str]) -> None:
    assert stale_figures(written, GENERATED) == stale


def test_published_figures_may_be_quoted(tmp_path: Path) -> None:
    (tmp_path / ANALYSIS).write_text(f"# Suite\n12,000\n{MARK}\nPublished: 77,700. Here: 12,000 and 13,000.\n")
    (tmp_path / TABLE).write_text(GENERATED)
    assert list(stale_pages([tmp_path], "| 77,700 |")) == [
        f"{tmp_path / ANALYSIS}: its hand-written part quotes 13,000, which the run does not have"
    ]
