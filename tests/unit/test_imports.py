"""Tests that test modules don't import each other. Shared code belongs in ``tests/factories.py`` or in a module next to it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
OF_A_TEST = re.compile(r"^\s*(?:from|import) tests\.[\w.]*\btest_|^from tests[\w.]* import .*\btest_", re.MULTILINE)


@pytest.mark.parametrize("line", ["from tests.unit.load.test_wrk import x", "import tests.unit.test_a", "from tests.unit import test_a"])
def test_an_import_from_a_test_is_detected(line: str) -> None:
    assert OF_A_TEST.search(f"import json\n{line}\n")


def test_no_test_imports_another() -> None:
    guilty = [str(file.relative_to(TESTS)) for file in TESTS.rglob("*.py") if OF_A_TEST.search(file.read_text(encoding="utf-8"))]
    assert guilty == []
