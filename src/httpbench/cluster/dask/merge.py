"""The results of all agents as one result, in the form that one load generator prints (``httpbench-loadgen/1``).

Results come one after the other and are added up at once, so memory depends on the number of intervals and not on that of the agents.
Counts are summed, histograms are added bucket by bucket, interval by interval; percentiles are taken from the sums alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from httpbench.cluster.dask.sums import HistogramSums
from httpbench.errors import LoadError
from httpbench.quantiles import figures_us, percentiles_us

Document = Mapping[str, Any]

DISTRIBUTIONS = ("service_time_us", "response_time_us", "schedule_lag_us", "connection_wait_us", "generator_lag_us", "connect_time_us")
FIGURES = ("min", "mean", "stddev", "max", "tm99_9", "p25", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99")
SUMMED = ("requests", "errors", "bytes", "parser")
"""Objects of counts."""
SUMMED_NUMBERS = ("throughput_rps", "throughput_bytes_per_s", "censored", "unfinished_s", "idle_closed")
SUMMED_IN_INTERVALS = ("completed", "errors", "offered_rps", "bytes_received")
SAME = ("schema", "version", "duration_s")
"""Fields in which all agents must agree."""
TOLERANCE_S = 1e-3


class MergedResults:
    """The sum of the results that were added so far."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] | None = None
        self._intervals: list[dict[str, Any]] = []
        self._threads: list[Any] = []
        self._generator: dict[str, Any] = {}
        self._names: tuple[str, ...] = ()
        self._totals = HistogramSums(0)
        self._slices = HistogramSums(0)

    def add(self, result: Document) -> None:
        """Adds one agent's result. Raises :class:`LoadError` if it does not fit to those before; the caller knows whose it is."""
        if self._whole is None:
            self._begin(result)
        else:
            self._check(result)
            _add_counts(self._whole, result)
            for mine, other in zip(self._intervals, result["intervals"], strict=True):
                _add_numbers(mine, other, SUMMED_IN_INTERVALS)
        self._totals.add([result[name]["histogram"] for name in self._names])
        self._slices.add([interval["histogram"] for interval in result["intervals"]])
        self._threads += result["generator"]["threads"]
        self._generator = _worst(self._generator, result["generator"])

    def document(self) -> dict[str, Any]:
        """The result of all. At least one was added."""
        assert self._whole is not None
        return {
            **self._whole,
            **{name: self._distribution(row) for row, name in enumerate(self._names)},
            "intervals": [self._interval(row, interval) for row, interval in enumerate(self._intervals)],
            "generator": {**self._generator, "threads": self._threads},
        }

    def _begin(self, result: Document) -> None:
        self._names = tuple(name for name in DISTRIBUTIONS if result[name] is not None)
        self._totals, self._slices = HistogramSums(len(self._names)), HistogramSums(len(result["intervals"]))
        config = {**result["config"], "part": "1/1"}
        self._whole = {**result, **{name: dict(result[name]) for name in SUMMED}, "config": config}
        self._intervals = [dict(interval) for interval in result["intervals"]]

    def _check(self, result: Document) -> None:
        assert self._whole is not None
        for name in SAME:
            if result[name] != self._whole[name]:
                raise LoadError(f"its {name} is {result[name]}, that of the others {self._whole[name]}")
        if tuple(name for name in DISTRIBUTIONS if result[name] is not None) != self._names:
            raise LoadError("its result has other distributions than those of the others")
        places = [[(each["start_s"], each["duration_s"]) for each in intervals] for intervals in (result["intervals"], self._intervals)]
        if len(places[0]) != len(places[1]) or any(_differ(mine, other) for mine, other in zip(*places, strict=True)):
            raise LoadError("its intervals are not those of the others")

    def _distribution(self, row: int) -> dict[str, Any]:
        samples = self._totals.samples(row)
        figures: dict[str, float | None] = dict.fromkeys(FIGURES)
        return {"count": samples.total, **figures, **figures_us(samples), "histogram": self._totals.text(row)}

    def _interval(self, row: int, interval: Document) -> dict[str, Any]:
        samples = self._slices.samples(row)
        known = percentiles_us(samples.highest, samples.counts)
        percentiles = {f"{name}_us": known.get(name) for name in ("p50", "p99", "p99_9")}
        return {**interval, **percentiles, "histogram": self._slices.text(row)}


def _add_counts(whole: dict[str, Any], result: Document) -> None:
    for name in SUMMED:
        _add_numbers(whole[name], result[name], result[name])
    _add_numbers(whole, result, SUMMED_NUMBERS)
    _add_numbers(whole["config"], result["config"], ("connections", "threads"))


def _add_numbers(mine: dict[str, Any], other: Document, names: Any) -> None:
    """Adds the numbers of these names; a missing one stays missing."""
    for name in names:
        mine[name] = None if mine[name] is None or other[name] is None else mine[name] + other[name]


def _worst(so_far: Document, generator: Document) -> dict[str, Any]:
    """Costs of all generators as one: sums of CPU time and memory, the worst of what holds one back."""
    if not so_far:
        return dict(generator)
    waiting = [each["waiting"] for each in (so_far, generator) if each["waiting"] is not None]
    return {
        **so_far,
        "engine_fallback": so_far["engine_fallback"] or generator["engine_fallback"],
        "cpu_s": so_far["cpu_s"] + generator["cpu_s"],
        "rss_bytes_peak": so_far["rss_bytes_peak"] + generator["rss_bytes_peak"],
        "busy": max(so_far["busy"], generator["busy"]),
        "waiting": max(waiting, default=None),
        "stalled_us": max(so_far["stalled_us"], generator["stalled_us"]),
    }


def _differ(mine: tuple[float, float], other: tuple[float, float]) -> bool:
    return any(abs(a - b) > TOLERANCE_S for a, b in zip(mine, other, strict=True))
