"""The rules of an audit that examine one row at a time.

Each rule finds figures that no correct measurement produces, or produces in less than 1% of tables;
``tests/unit/analysis/test_audit_laws.py`` checks this with simulated tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import pairwise

from httpbench.model import Distribution, Load, Trial
from httpbench.quantiles import PERCENTILES
from httpbench.stats.validity import LITTLE_ROUND_TRIPS_MIN, failed_requests

IN_FLIGHT_MAX = 1.05
"""Maximum ratio of the requests in flight, by Little's law, to the requests that the load allows. The tolerance covers figures with three
digits and requests at the edges of the measurement."""

IN_FLIGHT_MIN = 0.8
"""Ratio below which the connections were visibly not all in use."""

SPREAD_MAX = 10.0
"""Assumed maximum ratio between the throughputs of different requests to the same target.

If a row has the averages of several loads, average throughput × average latency exceeds the requests in flight, by at most
(1 + k)² / 4k for throughputs that differ by a factor of k (L. V. Kantorovich, 1948).
"""

BACK_FILLED_MIN = 1.5
"""Ratio of requests in flight above which a third of the sum of latencies must come from samples that wrk adds."""

STREAMS_UNKNOWN = ("h2load", "h2load-h3", "ghz")
"""Load generators that send several streams over each connection. Published results don't state how many."""

RISE_TOLERANCE = 0.01
"""Maximum relative amount by which rounding can make a percentile exceed a higher one."""

SAME_ROWS_MIN, SAME_SHARE_MIN = 3, 0.5
"""Minimum number and share of a table's rows in which two figures must be equal. Fewer can be equal by chance."""

COUNT_TOLERANCE = 0.1
"""Maximum relative difference between throughput and responses / duration. Loads last up to a few percent longer than stated."""

FAILED_SHARE_MAX = 0.01
"""Share of failed requests up to which a row is comparable with others. Some generators count events rather than requests."""


class AuditRule(StrEnum):
    TOO_MANY_IN_FLIGHT = "too_many_in_flight"
    PERCENTILES_FALL = "percentiles_fall"
    P99_IS_MEAN = "p99_is_mean"
    P99_IS_MAX = "p99_is_max"
    COUNTS_DISAGREE = "counts_disagree"
    ERRORS_COUNTED = "errors_counted"
    MANY_FAILED = "many_failed"
    ERRORS_UNKNOWN = "errors_unknown"
    TOO_FEW_IN_FLIGHT = "too_few_in_flight"
    BACK_FILLED = "back_filled"
    UNLIKE_AVERAGED = "unlike_averaged"
    CLUSTERED = "clustered"
    NOT_TOLD_APART = "not_told_apart"


IMPOSSIBLE = frozenset(
    {AuditRule.TOO_MANY_IN_FLIGHT, AuditRule.PERCENTILES_FALL, AuditRule.P99_IS_MEAN, AuditRule.P99_IS_MAX, AuditRule.COUNTS_DISAGREE}
)
"""Rules whose figures can't be true. The figures of the other rules mean less than they say."""


@dataclass(frozen=True, slots=True)
class AuditedRow:
    """The figures of one row that a rule found."""

    target: str
    figures: Mapping[str, float]
    """Figures by name, with their units in the name. Empty: the rule found nothing."""
    clarity: float = 0.0
    """How clearly the figures break the rule, for sorting the rows of a finding."""


@dataclass(frozen=True, slots=True)
class AuditCase:
    """A trial that counts, as the rules see it."""

    trial: Trial
    is_published: bool
    is_average: bool
    """Whether the figures are averages of several loads."""

    @property
    def target(self) -> str:
        return self.trial.plan.target

    @property
    def load(self) -> Load:
        return self.trial.plan.load

    @property
    def times(self) -> Distribution | None:
        return self.trial.measurement.service_time_us if self.trial.measurement else None

    @property
    def rps(self) -> float:
        return self.trial.measurement.throughput_rps if self.trial.measurement else 0.0

    @property
    def slots(self) -> int:
        """The most requests that can be in flight."""
        return self.load.connections * self.load.pipeline

    @property
    def means_every_request(self) -> bool:
        """Whether mean latency and throughput cover the same requests of a closed loop with a known depth, as far as is known."""
        measurement = self.trial.measurement
        if measurement is None or measurement.events or self.load.rate_rps is not None or self.failed_share > FAILED_SHARE_MAX:
            return False
        return measurement.generator not in STREAMS_UNKNOWN if self.is_published else measurement.means_every_request

    @property
    def failed_share(self) -> float:
        """Share of requests without a correct response."""
        if self.trial.measurement is None:
            return 0.0
        failed = failed_requests(self.trial.measurement)
        return failed / (self.trial.measurement.requests.ok + failed) if failed else 0.0

    @property
    def is_back_filled(self) -> bool:
        """Whether the load generator adds samples for requests that it didn't send."""
        return self.trial.measurement is not None and self.trial.measurement.generator == "wrk"


def _found(row: AuditCase, clarity: float, *, found: bool, **figures: float) -> AuditedRow:
    return AuditedRow(row.target, figures, clarity) if found else AuditedRow(row.target, {})


def _too_many_in_flight(row: AuditCase) -> AuditedRow | None:
    """Compare the requests in flight, which by Little's law are throughput × mean latency, with those that the load allows."""
    return None if row.is_back_filled or row.is_average else _in_flight_above(row, _in_flight_max(row))


def _back_filled(row: AuditCase) -> AuditedRow | None:
    """Find latencies raised by wrk, which adds a sample for each mean interval that a request took longer than that interval."""
    return _in_flight_above(row, BACK_FILLED_MIN * _in_flight_max(row)) if row.is_back_filled and not row.is_average else None


def _unlike_averaged(row: AuditCase) -> AuditedRow | None:
    """Find averages of loads that differ so much that the averages describe none of them."""
    return _in_flight_above(row, _in_flight_max(row) * (1 + SPREAD_MAX) ** 2 / (4 * SPREAD_MAX)) if row.is_average else None


def _in_flight_above(row: AuditCase, limit: float) -> AuditedRow | None:
    mean = _mean_at_least(row.times)
    if mean is None or not row.means_every_request:
        return None
    ratio = row.rps * mean / 1e6 / row.slots
    figures = {"throughput_rps": row.rps, "latency_us_mean": mean, "in_flight": ratio * row.slots, "in_flight_max": float(row.slots)}
    return _found(row, ratio, found=ratio > limit, **figures)


def _too_few_in_flight(row: AuditCase) -> AuditedRow | None:
    """Find connections that didn't wait for a response all the time, as in a closed loop they do unless they are reopened.

    With pipelining, wrk records one time for each batch of requests and then adds shorter times, which lower the mean.
    """
    measurement, times = row.trial.measurement, row.times
    if (
        measurement is None
        or times is None
        or not row.means_every_request
        or _reconnects(row)
        or (row.is_back_filled and row.load.pipeline > 1)
    ):
        return None
    if measurement.requests.completed < LITTLE_ROUND_TRIPS_MIN * row.slots:
        return None
    # Without a mean, the p99 bounds it, except if the slowest 1% of requests take most of the time.
    most = times.mean if times.mean is not None else times.p99
    if most is None or most < 0:
        return None
    ratio = row.rps * most / 1e6 / row.slots
    figure = "latency_us_mean" if times.mean is not None else "latency_us_p99"
    figures = {"throughput_rps": row.rps, figure: most, "in_flight": ratio * row.slots, "in_flight_max": float(row.slots)}
    return _found(row, 1 - ratio, found=ratio < IN_FLIGHT_MIN - _edge(row), **figures)


def _percentiles_fall(row: AuditCase) -> AuditedRow | None:
    """Find negative times, percentiles that fall, and means outside of minimum and maximum."""
    times = row.times
    if times is None:
        return None
    rising = [(name, value) for name in ("min", *PERCENTILES, "max") if (value := getattr(times, name)) is not None]
    if len(rising) + (times.mean is not None) < 2:
        return None
    pairs = [*pairwise(rising)]
    if times.mean is not None and times.max is not None:
        pairs.append((("mean", times.mean), ("max", times.max)))
    if times.mean is not None and times.min is not None:
        pairs.append((("min", times.min), ("mean", times.mean)))
    step = times.resolution_us or 0.0
    wrong = [(low, high) for low, high in pairs if low[1] > high[1] * (1 + RISE_TOLERANCE) + step]
    negative = [(name, value) for name, value in (*rising, ("mean", times.mean)) if value is not None and value < 0]
    if negative:
        return _found(row, math.inf, found=True, **{f"latency_us_{name}": value for name, value in negative})
    figures = {f"latency_us_{name}": value for pair in wrong[:1] for name, value in pair}
    return _found(row, max((low[1] - high[1] for low, high in wrong), default=0.0), found=bool(wrong), **figures)


def _p99_is_mean(row: AuditCase) -> AuditedRow | None:
    return _p99_is(row, "mean")


def _p99_is_max(row: AuditCase) -> AuditedRow | None:
    return _p99_is(row, "max")


def _p99_is(row: AuditCase, other: str) -> AuditedRow | None:
    """Compare the p99 with another figure, which equals it only by chance unless times are rounded to a few values."""
    times = row.times
    if times is None or (p99 := times.p99) is None or (value := getattr(times, other)) is None:
        return None
    step = max(times.resolution_us or 0.0, 1e-9)
    is_coarse = times.p50 is not None and p99 - times.p50 <= 2 * step
    return _found(row, value, found=p99 == value and not is_coarse, latency_us_p99=p99, **{f"latency_us_{other}": value})


def _counts_disagree(row: AuditCase) -> AuditedRow | None:
    """Compare throughput with the number of responses, with or without failed ones, divided by the duration."""
    measurement = row.trial.measurement
    if measurement is None or measurement.events or row.is_average or not row.rps or not measurement.requests.completed:
        return None
    counts = (measurement.requests.ok, measurement.requests.completed)
    ratios = [count / measurement.duration_s / row.rps for count in counts]
    is_wrong = all(abs(ratio - 1) > COUNT_TOLERANCE for ratio in ratios)
    clarity = max(ratios[1], 1 / ratios[1])
    return _found(row, clarity, found=is_wrong, throughput_rps=row.rps, responses=counts[1], duration_s=measurement.duration_s)


def _errors_counted(row: AuditCase) -> AuditedRow | None:
    """Find throughputs that include failed responses."""
    measurement = row.trial.measurement
    if measurement is None or not measurement.counts_errors or not measurement.requests.completed:
        return None
    counted, correct = row.rps * measurement.duration_s, measurement.requests.ok
    share = 1 - correct / measurement.requests.completed
    is_counted = share > FAILED_SHARE_MAX and abs(counted / measurement.requests.completed - 1) < share / 2
    return _found(row, share, found=is_counted, throughput_rps=row.rps, failed_share=share)


def _many_failed(row: AuditCase) -> AuditedRow | None:
    """Find targets that did less work than others in their table, because many requests failed."""
    measurement = row.trial.measurement
    if measurement is None or not measurement.counts_errors or not row.is_published:
        return None
    counted = _errors_counted(row)
    is_found = row.failed_share > FAILED_SHARE_MAX and not (counted and counted.figures)
    return _found(row, row.failed_share, found=is_found, throughput_rps=row.rps, failed_share=row.failed_share)


def _errors_unknown(row: AuditCase) -> AuditedRow | None:
    measurement = row.trial.measurement
    return _found(row, row.rps, found=measurement is not None and not measurement.counts_errors, throughput_rps=row.rps)


ROW_RULES: Mapping[AuditRule, Callable[[AuditCase], AuditedRow | None]] = {
    AuditRule.TOO_MANY_IN_FLIGHT: _too_many_in_flight,
    AuditRule.PERCENTILES_FALL: _percentiles_fall,
    AuditRule.P99_IS_MEAN: _p99_is_mean,
    AuditRule.P99_IS_MAX: _p99_is_max,
    AuditRule.COUNTS_DISAGREE: _counts_disagree,
    AuditRule.ERRORS_COUNTED: _errors_counted,
    AuditRule.MANY_FAILED: _many_failed,
    AuditRule.ERRORS_UNKNOWN: _errors_unknown,
    AuditRule.TOO_FEW_IN_FLIGHT: _too_few_in_flight,
    AuditRule.BACK_FILLED: _back_filled,
    AuditRule.UNLIKE_AVERAGED: _unlike_averaged,
}
"""The rules. Each returns ``None`` without the figures that it needs, and a row without figures if it finds nothing."""


def _mean_at_least(times: Distribution | None) -> float | None:
    """Return the mean in µs, or a lower bound of it: each request takes at least as long as the highest percentile that it exceeds."""
    if times is None or times.mean is not None:
        return None if times is None else times.mean
    known = [(share / 100, value) for name, share in PERCENTILES.items() if (value := getattr(times, name)) is not None]
    if not known:
        return None
    shares = [share for share, _ in known] + [1.0]
    return float(sum((above - share) * value for (share, value), above in zip(known, shares[1:], strict=True)))


def _in_flight_max(row: AuditCase) -> float:
    """Return the highest ratio of throughput × mean latency to the requests in flight that correct figures of one load can have."""
    return IN_FLIGHT_MAX + _edge(row)


def _edge(row: AuditCase) -> float:
    """Return by how much requests in flight at the start or the end of a measurement, or of each of its slices, can change the ratio."""
    times, measurement = row.times, row.trial.measurement
    longest_us = (times.max or times.p99 or 0.0) if times else 0.0
    return longest_us / 1e6 / (measurement.duration_s / (row.trial.plan.slices or 1)) if measurement else 0.0


def _reconnects(row: AuditCase) -> bool:
    """Whether connections were closed and opened again, or may have been."""
    opened = row.trial.measurement.connections_opened if row.trial.measurement else None
    is_reopened = opened is not None and opened > row.load.connections
    return not row.load.keepalive or row.load.requests_per_connection is not None or is_reopened
