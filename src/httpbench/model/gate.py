"""Gates, which limit how much a result may change."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from httpbench.model.frozen import Frozen


class Gate(Frozen):
    """A gate such as ``rps<-3%``, which fails if requests per second changed by less than −3%."""

    figure: str
    """A key of :data:`httpbench.stats.figures.BY_NAME`."""
    side: Literal["<", ">"]
    """Side of the bound that fails."""
    change: float = Field(gt=-1)
    """Bound on the relative change: −0.03 is −3%."""

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"
