"""Tests of the program that writes docs/audits.md."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from httpbench.errors import CatalogError
from tests.published import LATER_METRICS, WRK_METRICS, arena_row, web_frameworks, write_arena, write_results
from tools.audits import ARCHIVES, page

PAGE = Path(__file__).parents[3] / "docs" / "audits.md"


def test_the_page_has_a_section_for_each_archive(tmp_path: Path) -> None:
    (tmp_path / "web-frameworks-2026-02-11.json").write_text(json.dumps(web_frameworks(LATER_METRICS)))
    (tmp_path / "web-frameworks-2025-07-23.json").write_text(json.dumps(web_frameworks(WRK_METRICS)))
    write_arena(tmp_path / "HttpArena", baseline_512=[arena_row(rps=900_000)])
    write_results(tmp_path / "results.2019-12-11-13-21-02-404.json")
    text = page(tmp_path)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [f"## {archive.title}" for archive in ARCHIVES]
    assert "rust/actix-web: 900,000/s for 5 s, but 2,500,000 responses" in text
    assert "\n\n\n" not in text and "audit of run" not in text


def test_a_missing_archive_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CatalogError, match="cannot read the file"):
        page(tmp_path)


def test_the_page_in_the_docs_has_the_same_sections() -> None:
    titles = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("## ")]
    assert titles == [f"## {archive.title}" for archive in ARCHIVES]
