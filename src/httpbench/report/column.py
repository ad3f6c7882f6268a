"""What a column is, and how figures are written in one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.report.rows import Row
from httpbench.stats.summary import Estimate

PARTLY = "†"
"""After the verdict of a row of which some rounds do not count."""

ALWAYS = 0
"""Never left out, however narrow the terminal."""


@dataclass(frozen=True, slots=True)
class Column:
    title: str
    unit: str
    """Of the figures; empty where there is none."""
    text: Callable[[Row], str]
    need: int
    """The higher, the sooner a narrow terminal goes without it; ``ALWAYS``: never."""
    is_number: bool = True

    @property
    def heading(self) -> str:
        """Title and unit on one line."""
        return f"{self.title} ({self.unit})" if self.unit else self.title


def verdict(row: Row) -> str:
    kind = row.summary.verdict.kind
    return f"{kind}{PARTLY}" if row.counts_partly else str(kind)


def scaled(estimate: Estimate | None, unit: float, digits: int) -> str:
    """The median in multiples of ``unit``, with thousands apart; nothing where there is none."""
    return "" if estimate is None else f"{estimate.median / unit:,.{digits}f}"
