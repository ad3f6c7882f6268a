"""The search for the highest rate that meets a service level."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from httpbench.model.frozen import Frozen

OfResponses = Literal["mean", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max"]
OfFirstBytes = Literal["ttfb_mean", "ttfb_p50", "ttfb_p75", "ttfb_p90", "ttfb_p95", "ttfb_p99", "ttfb_p99_9", "ttfb_p99_99", "ttfb_max"]
Figure = Literal[OfResponses, OfFirstBytes]


class Bound(Frozen):
    """An upper bound on one statistic of the response times or of the times to the first byte."""

    figure: Figure
    """Statistic of the response times or, if it begins with ``ttfb_``, of the times to the first byte."""
    limit_us: float = Field(gt=0)
    """Upper bound, in µs."""


class ServiceLevel(Frozen):
    """The conditions that a trial must meet, in addition to achieving the offered rate."""

    bounds: Annotated[tuple[Bound, ...], Field(min_length=1)]
    """Bounds on response times."""
    failed_share_max: float = Field(default=0.001, ge=0, le=1)
    """Maximum share of requests without a correct response, 0 to 1."""


class Search(Frozen):
    """A search for the highest rate that meets a service level.

    The search tests a rate several times, because trials at the same rate can disagree.
    """

    level: ServiceLevel
    """The service level."""
    width: float = Field(default=0.01, ge=0.002, le=0.5)
    """Requested precision of the result. The search ends once the result is at most this fraction below a rate that
    didn't meet the service level. 0.01 is 1%."""
    trials_per_rate: int = Field(default=3, ge=1, le=99)
    """Number of trials per rate in the last phase. A rate passes if at least half of its trials pass."""
    duration_s: float = Field(gt=0)
    """Measured duration of a trial other than a scout trial, in seconds. Trials at low rates last longer, because each percentile
    of the service level requires a minimum number of responses."""
    scout_duration_s: float = Field(gt=0)
    """Measured duration of a scout trial, in seconds. The search begins with one scout trial per rate to narrow the range of rates. The
    result doesn't include scout trials."""
    time_max_s: float | None = Field(default=None, gt=0)
    """Time limit, in seconds. The search doesn't start a trial that would exceed this limit. Null: no limit, as in earlier versions."""
    overload: float | None = Field(default=None, gt=1, le=10)
    """Factor by which further trials exceed the highest rate that the search found. Null: no such trials."""
    trials_max: int = Field(default=200, ge=2)
    """Maximum number of trials. After this many trials, the search ends even if it hasn't reached ``width``."""
