"""Tests of the history of a target on a terminal of 80 columns."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest
from rich.console import Console

from httpbench.analysis.history import LevelChange, histories
from httpbench.model import Verdict, VerdictKind
from httpbench.report.terminal.history import render_history
from httpbench.report.words.history import commits_text, level_change_text
from httpbench.stats.interval import ConfidenceInterval
from httpbench.store import Store
from tests.histories import A, fall, keep, rounds


def change(before: str | None = None, after: str | None = None, ratio: float = 0.95) -> LevelChange:
    return LevelChange(3, ratio, ConfidenceInterval(low=ratio - 0.01, high=ratio + 0.02), before, after)


def shown(store: Store, width: int = 80) -> list[str]:
    output = io.StringIO()
    Console(width=width, file=output).print(render_history(histories(store, A), width=width, runs=30))
    return [line.rstrip() for line in output.getvalue().splitlines()]


def test_a_table_with_long_names_fits_80_columns(tmp_path: Path) -> None:
    with Store(tmp_path / "results.db") as store:
        fall(store)
        keep(store, 100, rounds(95_123), id="20261121T080000-c0de", commit="0123456789abcdef+changes")
        keep(store, 101, rounds(95_123), name="a name that is much longer than the column is wide")
        lines = shown(store)
    assert max(map(len, lines)) <= 80
    assert any(re.search(r"20261121T080000-c0de  01234567\+      95,120  \d\.\d", line) for line in lines)
    assert any("a name that is much…" in line for line in lines)


def test_generator_bound_runs_have_a_mark_that_is_explained(tmp_path: Path) -> None:
    generator = Verdict(kind=VerdictKind.GENERATOR, reasons=("generator-bound",))
    with Store(tmp_path / "results.db") as store:
        keep(store, 1, rounds(95_123, verdict=generator))
        text = "\n".join(shown(store))
    assert "≥95,120" in text
    assert "≥: the load generator limited a round" in text


def test_a_change_is_a_shape_and_a_percentage() -> None:
    assert level_change_text(change()) == "▼ -5.0% ± 1.5%"
    assert level_change_text(change(ratio=1.1)) == "▲ +10.0% ± 1.5%"


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("0123456789abcdef", "ba9876543210+changes", "commits 0123456789ab..ba9876543210+changes"),
        ("0123456789abcdef", "0123456789abcdef", "same commit 0123456789ab: not a change in the source"),
        ("0123456789abcdef+changes", "0123456789abcdef+changes", "commits unknown"),
        (None, "0123456789abcdef", "commits unknown..0123456789ab"),
        (None, None, "commits unknown"),
    ],
)
def test_known_commits_between_runs_are_listed(before: str | None, after: str | None, text: str) -> None:
    assert commits_text(change(before, after)) == text
