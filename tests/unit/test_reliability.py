"""Tests that docs/reliability.md lists exactly the faults that the tests cause."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.reliability import PAGE, Protection, Row, protections, rows

FAULTS = Path(__file__).parents[1] / "integration" / "faults"
WORDS_MAX = 25


def test_rows_and_tests_match() -> None:
    tests = [
        name for path in FAULTS.glob("test_*.py") for name in re.findall(r"^def (test_\w+)\(fault: Fault\b", path.read_text(), re.MULTILINE)
    ]
    assert sorted(row.test for row in rows()) == sorted(tests)


@pytest.mark.parametrize("row", protections(), ids=lambda row: row.test)
def test_each_protection_has_a_test(row: Protection) -> None:
    path, _, name = row.test.partition("::")
    assert f"\ndef {name}(" in (Path(__file__).parents[2] / path).read_text(encoding="utf-8")


def test_each_fault_has_one_row() -> None:
    faults = [row.fault for row in rows()]
    assert len(set(faults)) == len(faults)
    assert f"all {len(faults)} faults" in PAGE.read_text(encoding="utf-8")


@pytest.mark.parametrize("row", rows(), ids=lambda row: row.test)
def test_sentences_are_short(row: Row) -> None:
    assert len(row.sentence.split()) <= WORDS_MAX


def test_a_pattern_matches_any_number() -> None:
    row = Row("", "", "took longer than N s: …", 1, "")
    assert row.pattern.search("its build took longer than 1,800 s: make all")
    assert not row.pattern.search("its build took longer than Nobody s: make")
