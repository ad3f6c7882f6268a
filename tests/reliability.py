"""Read the tables in docs/reliability.md: every fault that the tests cause, and protections with the test of each.

Run as a program, it prints the names of the tests in the second table.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
COLUMNS, PROTECTION_COLUMNS = 5, 3


@dataclass(frozen=True, slots=True)
class Row:
    """A fault and how httpbench handles it."""

    fault: str
    consequence: str
    sentence: str
    """The printed message. N matches any number, and … matches any text."""
    exit_code: int
    test: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """A pattern that matches the sentence with any numbers and texts."""
        words = re.escape(self.sentence).replace("…", r"[^\n│]+")
        return re.compile(re.sub(r"\bN\b", r"\\d[\\d,.]*", words))


@dataclass(frozen=True, slots=True)
class Protection:
    """An attack or accident, and what httpbench does about it."""

    attack: str
    consequence: str
    test: str
    """Path of the test, such as ``tests/unit/test_a.py::test_b``."""


def protections() -> list[Protection]:
    """Return the rows of the table of attacks and accidents, in order."""
    found = [row for row in _cells() if len(row) == PROTECTION_COLUMNS and "::test_" in row[-1]]
    return [Protection(attack, consequence, f"tests/{test.strip('`')}") for attack, consequence, test in found]


def rows() -> list[Row]:
    """Return the rows of the table of faults, in order."""
    found = [row for row in _cells() if len(row) == COLUMNS and row[-1].startswith("`test_")]
    return [Row(fault, consequence, sentence.strip("`"), int(code), test.strip("`")) for fault, consequence, sentence, code, test in found]


def _cells() -> list[list[str]]:
    """Return the cells of all tables, by row."""
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    print(*(each.test for each in protections()), sep="\n")
