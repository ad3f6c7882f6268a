"""A result in transit from a load host, with its histograms packed separately."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from httpbench.cluster.dask.packing import Packed, packed
from httpbench.errors import LoadError

Document = Mapping[str, Any]

DISTRIBUTIONS = ("service_time_us", "response_time_us", "schedule_lag_us", "connection_wait_us", "generator_lag_us", "connect_time_us")
HISTOGRAM = "histogram"


@dataclass(frozen=True, slots=True)
class PackedResult:
    """The result of one load generator."""

    document: Document
    """Its JSON (``httpbench-loadgen/1``) without histograms and intervals."""
    columns: Mapping[str, Sequence[Any]]
    """The fields of its intervals by name, a form that is faster to add up."""
    totals: Packed
    """Histograms of its distributions, in the order of :data:`DISTRIBUTIONS`."""
    intervals: Packed
    """Histograms of its intervals."""


def read(output: bytes) -> PackedResult:
    """Parse the output of httpbench-loadgen. Raise :class:`LoadError` if that fails."""
    try:
        return separated(json.loads(output))
    except (ValueError, KeyError, TypeError) as error:
        raise LoadError(f"its result cannot be read: {error}") from error


def separated(document: Document) -> PackedResult:
    """Separate the histograms from the rest of a result."""
    intervals = document["intervals"]
    present = {name: document[name] for name in DISTRIBUTIONS if document[name] is not None}
    return PackedResult(
        {
            **document,
            **{name: _without_histogram(each) for name, each in present.items()},
            "intervals": (),
        },
        {name: tuple(interval[name] for interval in intervals) for name in _without_histogram(intervals[0])} if intervals else {},
        packed([each[HISTOGRAM] for each in present.values()]),
        packed([interval[HISTOGRAM] for interval in intervals]),
    )


def _without_histogram(part: Document) -> Document:
    return {name: value for name, value in part.items() if name != HISTOGRAM}
