"""By how much a figure may change."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from httpbench.model.frozen import Frozen


class Gate(Frozen):
    """``rps<-3%``: fails where the requests per second have changed by less than −3%."""

    figure: str
    """A key of :data:`httpbench.stats.figures.BY_NAME`."""
    side: Literal["<", ">"]
    """Which side of the bound fails."""
    change: float = Field(gt=-1)
    """Of the figure, relative: −0.03."""

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"
