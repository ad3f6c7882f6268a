"""The table of faults in docs/reliability.md, which the tests read so that there is only one list."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "reliability.md"
COLUMNS = 5


@dataclass(frozen=True, slots=True)
class Row:
    """One fault."""

    fault: str
    consequence: str
    sentence: str
    """What the command prints. N stands for any number, … for any text."""
    exit_code: int
    test: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """Regular expression for the sentence."""
        words = re.escape(self.sentence).replace("…", r"[^\n│]+")
        return re.compile(re.sub(r"\bN\b", r"\\d[\\d,.]*", words))


def rows() -> list[Row]:
    """Return the rows of the table in order."""
    cells = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.read_text(encoding="utf-8").splitlines()]
    found = [row for row in cells if len(row) == COLUMNS and row[-1].startswith("`test_")]
    return [Row(fault, consequence, sentence.strip("`"), int(code), test.strip("`")) for fault, consequence, sentence, code, test in found]
