"""Merge the results of all agents into one, in the format of one load generator (``httpbench-loadgen/1``).

Each result is added as soon as it arrives, so memory depends on the number of intervals, not on the number of agents. Counts are summed,
and the histograms of each interval are added bucket by bucket. Percentiles are computed from the sums.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from hdrh.histogram import HdrHistogram

from httpbench.cluster.dask.results import DISTRIBUTIONS, BucketBounds, Document, Packed, PackedResult
from httpbench.errors import LoadError
from httpbench.quantiles import Samples, figures_us, percentiles_us

if TYPE_CHECKING:
    from httpbench.quantiles import Integers

FIGURES = ("min", "mean", "stddev", "max", "tm99_9", "p25", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99")
SUMMED = ("requests", "errors", "bytes", "parser")
"""Fields whose values are objects that contain counts. Each count is summed separately."""
SUMMED_NUMBERS = ("throughput_rps", "throughput_bytes_per_s", "censored", "unfinished_s", "idle_closed", "connections_opened")
PLACE = ("start_s", "duration_s")
"""Fields of an interval that must be equal for all agents."""
SUMMED_IN_INTERVALS = ("completed", "errors", "offered_rps", "bytes_received")
SAME = ("schema", "version", "duration_s")
"""Fields that must be equal for all agents."""
TOLERANCE_S = 1e-3

_DIGITS = 3
_HALF_BITS = 10  # a histogram with three digits has 2048 buckets of width one, then 1024 of each larger width


class HistogramSums:
    """A table of histograms of times in ns. Each row is the sum of histograms that were added bucket by bucket.

    Adding costs about 20 ns per bucket that is not empty. The hdrhistogram package would take about a hundred times as long, because it
    builds a whole object for each histogram. We use the package only to encode the sums, and tests compare our results with its results.
    """

    def __init__(self, rows: int):
        self._rows = rows
        self._bounds: BucketBounds | None = None
        self._sums: Integers = np.zeros((rows, 0), dtype=np.int64)

    def add(self, packed: Packed) -> None:
        """Add one histogram to each row. Raise :class:`LoadError` if histograms can't be unpacked, or don't have the bounds of the sums."""
        if len(packed.sizes) != self._rows:
            raise LoadError(f"it has {len(packed.sizes)} histograms, but earlier results have {self._rows}")
        if packed.bounds is None:
            return
        self._keep_to(packed.bounds)
        gaps, counts = packed.columns()
        sizes = np.array(packed.sizes, dtype=np.int64)
        held = np.flatnonzero(sizes)
        if not len(held):
            return
        firsts, width = (np.cumsum(sizes) - sizes)[held], self._sums.shape[1]
        steps = gaps.astype(np.int64)
        highest = np.add.reduceat(steps, firsts)  # highest bucket of each row
        if int(highest.max()) >= width:
            raise LoadError("a histogram has more buckets than its bounds allow")
        # In the flat table, the first step of each row leads from the last bucket of the previous row to the first bucket of this row.
        steps[firsts] += np.diff(held, prepend=0) * width - np.concatenate(([0], highest[:-1]))
        np.add.at(self._sums.reshape(-1), np.cumsum(steps, out=steps), counts.astype(np.int64))

    def samples(self, row: int) -> Samples:
        """Return the samples of a row."""
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        shift = np.maximum((buckets >> _HALF_BITS) - 1, 0)
        within = np.where(buckets >> _HALF_BITS, (buckets & ((1 << _HALF_BITS) - 1)) + (1 << _HALF_BITS), buckets)
        lowest = within << shift
        width = np.int64(1) << shift
        middle, highest = lowest + width // 2, lowest + width - 1
        return Samples(lowest.astype(np.float64), middle.astype(np.float64), highest.astype(np.float64), held[buckets])

    def text(self, row: int) -> str:
        """Return the histogram of a row in the format of httpbench-loadgen."""
        assert self._bounds is not None, "something was added"
        histogram = HdrHistogram(self._bounds.lowest, self._bounds.highest, self._bounds.digits)
        held = self._sums[row]
        buckets = np.flatnonzero(held)
        np.ctypeslib.as_array(histogram.counts)[buckets] = held[buckets]
        first, last = (int(buckets[0]), int(buckets[-1])) if len(buckets) else (-1, -1)
        histogram.set_internal_tacking_values(first, last, int(held.sum()))
        return str(histogram.encode().decode("ascii"))

    def _keep_to(self, bounds: BucketBounds) -> None:
        if self._bounds is None:
            if bounds.digits != _DIGITS or bounds.lowest != 1:
                raise LoadError(f"a histogram has {bounds.digits} digits from {bounds.lowest} ns, not {_DIGITS} from 1 ns")
            widths = max(bounds.highest.bit_length() - _HALF_BITS, 1)
            self._bounds, self._sums = bounds, np.zeros((self._rows, (widths + 1) << _HALF_BITS), dtype=np.int64)
        elif bounds != self._bounds:
            raise LoadError("histograms of different bounds cannot be added up")


class MergedResults:
    """The sum of all results added so far."""

    def __init__(self) -> None:
        self._whole: dict[str, Any] | None = None
        self._columns: dict[str, Sequence[Any]] = {}
        self._threads: list[Any] = []
        self._generator: dict[str, Any] = {}
        self._names: tuple[str, ...] = ()
        self._totals = HistogramSums(0)
        self._slices = HistogramSums(0)

    def add(self, added: PackedResult) -> None:
        """Add the result of one agent. Raise :class:`LoadError` if it isn't compatible with the earlier results."""
        result = added.document
        if self._whole is None:
            self._begin(added)
        else:
            self._check(added)
            _add_counts(self._whole, result)
            for name in SUMMED_IN_INTERVALS:
                self._columns[name] = [_sum(*pair) for pair in zip(self._columns[name], added.columns[name], strict=True)]
        self._totals.add(added.totals)
        self._slices.add(added.intervals)
        self._threads += result["generator"]["threads"]
        self._generator = _worst(self._generator, result["generator"])

    def document(self) -> dict[str, Any]:
        """Return the merged result. At least one result must have been added."""
        assert self._whole is not None
        return {
            **self._whole,
            **{name: self._distribution(row) for row, name in enumerate(self._names)},
            "intervals": [self._interval(row, values) for row, values in enumerate(zip(*self._columns.values(), strict=True))],
            "generator": {**self._generator, "threads": self._threads},
        }

    def _begin(self, added: PackedResult) -> None:
        result = added.document
        self._names = tuple(name for name in DISTRIBUTIONS if result[name] is not None)
        self._totals, self._slices = HistogramSums(len(self._names)), HistogramSums(len(added.intervals.sizes))
        config = {**result["config"], "part": "1/1"}
        self._whole = {**result, **{name: dict(result[name]) for name in SUMMED}, "config": config}
        if self._whole.get("tls_handshakes"):
            self._whole["tls_handshakes"] = dict(self._whole["tls_handshakes"])
        self._columns = {name: added.columns.get(name, ()) for name in (*PLACE, *SUMMED_IN_INTERVALS)}

    def _check(self, added: PackedResult) -> None:
        assert self._whole is not None
        result = added.document
        for name in SAME:
            if result[name] != self._whole[name]:
                raise LoadError(f"its {name} is {result[name]}, but the other load hosts have {self._whole[name]}")
        if tuple(name for name in DISTRIBUTIONS if result[name] is not None) != self._names:
            raise LoadError("its result has different distributions than those of the other load hosts")
        if any(_differ(added.columns.get(name, ()), self._columns[name]) for name in PLACE):
            raise LoadError("its intervals differ from those of the other load hosts")

    def _distribution(self, row: int) -> dict[str, Any]:
        samples = self._totals.samples(row)
        figures: dict[str, float | None] = dict.fromkeys(FIGURES)
        return {"count": samples.total, **figures, **figures_us(samples), "histogram": self._totals.text(row)}

    def _interval(self, row: int, values: Sequence[Any]) -> dict[str, Any]:
        samples = self._slices.samples(row)
        known = percentiles_us(samples.highest, samples.counts)
        own = dict(zip(self._columns, values, strict=True))
        percentiles = {f"{name}_us": known.get(name) for name in ("p50", "p99", "p99_9")}
        return {**own, **percentiles, "histogram": self._slices.text(row)}


def _add_counts(whole: dict[str, Any], result: Document) -> None:
    for name in SUMMED:
        _add_numbers(whole[name], result[name], result[name])
    if whole.get("tls_handshakes"):
        _add_numbers(whole["tls_handshakes"], result["tls_handshakes"], ("full", "resumed"))
    _add_numbers(whole, result, SUMMED_NUMBERS)
    _add_numbers(whole["config"], result["config"], ("connections", "threads"))


def _add_numbers(mine: dict[str, Any], other: Document, names: Any) -> None:
    """Add the numbers with these names to ``mine``. If either number is ``None``, the sum is ``None`` too."""
    for name in names:
        mine[name] = _sum(mine[name], other[name])


def _sum(mine: float | None, other: float | None) -> float | None:
    return None if mine is None or other is None else mine + other


def _worst(so_far: Document, generator: Document) -> dict[str, Any]:
    """Merge the facts about one more load generator: add up CPU time and memory, and keep the worst value of each sign of overload."""
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


def _differ(mine: Sequence[float], other: Sequence[float]) -> bool:
    return len(mine) != len(other) or any(abs(a - b) > TOLERANCE_S for a, b in zip(mine, other, strict=True))
