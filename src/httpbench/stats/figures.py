"""The results that can be compared. Each result has one value per trial."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from httpbench.model import Trial
from httpbench.stats.histogram import RESOLUTION
from httpbench.stats.paired import Rounds, by_round
from httpbench.stats.summary import cpu_us_per_request, rss_bytes_peak, throughput_rps


@dataclass(frozen=True, slots=True)
class Figure:
    """A result that can be compared."""

    name: str
    """Name of the result in the JSON export."""
    of: Callable[[Trial], float | None]
    resolution: float = 0.0
    """Relative resolution of the recorded values."""

    def rounds(self, trials: Iterable[Trial]) -> Rounds:
        """Return the value of each round that counts and has a value."""
        return by_round(trials, self.of)


def _latency(field: str) -> Figure:
    def of(trial: Trial) -> float | None:
        times = trial.measurement.times_us if trial.measurement else None
        value: float | None = getattr(times, field, None)
        return value

    return Figure(f"latency_us_{field}", of, RESOLUTION)


THROUGHPUT = Figure("throughput_rps", lambda trial: throughput_rps(trial.measurement) if trial.measurement else None)
P99 = _latency("p99")
CPU = Figure("cpu_us_per_request", cpu_us_per_request)
WALL = Figure("wall_s", lambda trial: trial.client.whole.wall_s if trial.client else None)
"""Wall time of a client's whole process."""
SPEED = Figure("runs_per_s", lambda trial: 1 / trial.client.whole.wall_s if trial.client else None)
"""Reciprocal of ``WALL``, because ranks need a result for which higher is better."""

BY_NAME = {
    "rps": THROUGHPUT,
    "mean": _latency("mean"),
    "p50": _latency("p50"),
    "p90": _latency("p90"),
    "p95": _latency("p95"),
    "p99": P99,
    "p99.9": _latency("p99_9"),
    "cpu": CPU,
    "memory": Figure("rss_bytes_peak", rss_bytes_peak),
    "time": WALL,
}
"""Results by name on the command line. ``time`` is the wall time of a client's whole process."""
