"""Check the hand-written part of a page of results: each figure that the part quotes must still be in the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.results.analysis import MARK
from tools.results.folder import ANALYSIS, TABLE

NUMBER = r"(?<![\w.,])\d+(?:,\d{3})*(?:\.\d+)?(?![\w,]*\d)"
FIGURE = re.compile(NUMBER)
UNIT = r"(?:%|times\b|µs\b|ms\b|s\b|MB\b|GB\b|requests/s\b)"
QUOTED = re.compile(rf"{NUMBER}(?:\s*(?:to|–|and|or|±|,)\s*{NUMBER})*\s*{UNIT}|(?<![\d.,])\d{{1,3}}(?:,\d{{3}})+(?![\d,])")
"""Pattern for quoted figures: one or more numbers with a unit, and numbers of at least 1,000. Other numbers are mostly counts of targets,
rounds or connections."""


def stale_pages(folders: Sequence[Path], published: str) -> Iterator[str]:
    """Yield a sentence for each folder whose hand-written part quotes figures that neither its run nor the published results contain."""
    for folder in folders:
        generated, _, written = (folder / ANALYSIS).read_text(encoding="utf-8").partition(MARK)
        known = "\n".join([generated, (folder / TABLE).read_text(encoding="utf-8"), published])
        if stale := stale_figures(written, known):
            yield f"{folder / ANALYSIS}: its hand-written part quotes {', '.join(stale)}, which the run does not have"


def stale_figures(written: str, generated: str) -> list[str]:
    """Return the figures in the hand-written text that don't match any figure in the generated text, even after rounding."""
    known = {_value(found) for found in FIGURE.findall(generated)}
    quoted = (figure for match in QUOTED.finditer(written) for figure in FIGURE.findall(match[0]))
    return [figure for figure in dict.fromkeys(quoted) if not any(_agrees(figure, value) for value in known)]


def _agrees(quoted: str, value: float) -> bool:
    """Return whether a value rounds to a quoted figure. The trailing zeros of a whole number may result from rounding."""
    digits = quoted.replace(",", "")
    decimals = len(digits.partition(".")[2])
    step = 10.0**-decimals if decimals else 10.0 ** (len(digits) - len(digits.rstrip("0")))
    return abs(value - float(digits)) <= step / 2 * (1 + 1e-9)


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
