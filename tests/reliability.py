"""Read the table of faults in docs/reliability.md, which lists every fault that the tests cause."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
COLUMNS = 5


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


def rows() -> list[Row]:
    """Return the rows of the table, in order."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    found = [row for row in cells if len(row) == COLUMNS and row[-1].startswith("`test_")]
    return [Row(fault, consequence, sentence.strip("`"), int(code), test.strip("`")) for fault, consequence, sentence, code, test in found]
