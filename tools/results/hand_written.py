"""Check the hand-written part of a page of results: each large figure that the part quotes must still be in the run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

from tools.results.analysis import MARK
from tools.results.folder import ANALYSIS, TABLE

FIGURE = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,])")
"""Pattern for figures of at least 1,000. Many smaller figures are counts, percentages or differences that no table contains."""


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
    return [quoted for quoted in dict.fromkeys(FIGURE.findall(written)) if not any(_agrees(quoted, value) for value in known)]


def _agrees(quoted: str, value: float) -> bool:
    """Return whether a value rounds to a quoted figure, whose trailing zeros may result from rounding."""
    digits = quoted.replace(",", "")
    step = 10 ** (len(digits) - len(digits.rstrip("0"))) if "." not in digits else 1
    return abs(value - float(digits)) <= step / 2


def _value(figure: str) -> float:
    return float(figure.replace(",", ""))
