"""A gate: by how much a figure may change. It is breached only where the whole interval lies beyond, so that noise breaches nothing."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from httpbench.model import Frozen
from httpbench.stats.interval import ConfidenceInterval


class Gate(Frozen):
    """``rps<-3%``: fails where the requests per second have changed by less than −3 %."""

    figure: str
    """A key of :data:`httpbench.stats.figures.BY_NAME`."""
    side: Literal["<", ">"]
    change: float = Field(gt=-1)
    """Of the figure, relative: −0.03."""

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"


class Passage(StrEnum):
    PASSED = "passed"
    BREACHED = "breached"
    UNKNOWN = "unknown"  # there is no interval: too few rounds count, or the figure was not measured


def passage(gate: Gate, interval: ConfidenceInterval | None) -> Passage:
    """Whether a ratio passes, of which this is the interval."""
    if interval is None:
        return Passage.UNKNOWN
    limit = 1 + gate.change
    is_beyond = interval.high < limit if gate.side == "<" else interval.low > limit
    return Passage.BREACHED if is_beyond else Passage.PASSED
