"""What a search for the highest rate looks for, and how."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from httpbench.model.frozen import Frozen

Figure = Literal["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"]


class Bound(Frozen):
    """One figure of the response times is to stay below a limit."""

    figure: Figure
    limit_us: float = Field(gt=0)


class ServiceLevel(Frozen):
    """What is to hold at a rate, beside that the rate is reached."""

    bounds: Annotated[tuple[Bound, ...], Field(min_length=1)]
    failed_share_max: float = Field(default=0.001, ge=0, le=1)
    """Requests without a right answer / all."""


class Search(Frozen):
    """The highest rate at which a service level holds, found by trials that may contradict each other."""

    level: ServiceLevel
    width: float = Field(default=0.01, ge=0.002, le=0.5)
    """How far the lowest rate at which it does not hold may lie above the result, relative."""
    trials_per_rate: int = Field(default=3, ge=1, le=99)
    """At the end; it holds where it held in at least half of them."""
    duration_s: float = Field(gt=0)
    """Of a trial that counts; longer at rates so low that a percentile would have too few answers."""
    scout_duration_s: float = Field(gt=0)
    """Of the trials before, one for each rate, that only show where to look."""
    trials_max: int = Field(default=200, ge=2)
    """After which the search ends, narrow enough or not."""
