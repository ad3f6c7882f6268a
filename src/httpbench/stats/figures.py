"""The results that can be compared. Each result has one value per trial."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from httpbench.model import BETWEEN_EVENTS, FIRST_BYTE, FIRST_EVENT, Trial
from httpbench.stats.histogram import RESOLUTION
from httpbench.stats.paired import Comparison, Rounds, by_round, compare
from httpbench.stats.slice_noise import Slices, explained_variance, slices_of
from httpbench.stats.summary import cpu_us_per_request, rss_bytes_peak, throughput_rps


@dataclass(frozen=True, slots=True)
class Figure:
    """A result that can be compared."""

    name: str
    """Name of the result in the JSON export."""
    of: Callable[[Trial], float | None]
    resolution: float = 0.0
    """Relative resolution of the recorded values, unless a load generator records times in coarser steps."""
    is_latency: bool = False
    step: float | None = None
    """Distance between the values that can be recorded, in the unit of the values, or ``None`` if it is small."""
    has_slices: bool = False
    """Whether each slice has a value of its own, and the mean of these values is the value of the round."""

    def rounds(self, trials: Iterable[Trial]) -> Rounds:
        """Return the value of each round that counts and has a value."""
        return by_round(trials, self.of)

    def slices(self, trials: Iterable[Trial]) -> Slices:
        """Return the logarithms of the values of slices, by round; empty for a result without such values."""
        return slices_of(trials) if self.has_slices else {}

    def compare(self, ours: Sequence[Trial], theirs: Sequence[Trial]) -> Comparison | None:
        """Compare two targets by this result. ``None`` if no round has values above zero for both targets."""
        explained = explained_variance(self.slices(ours), self.slices(theirs))
        return compare(self.rounds(ours), self.rounds(theirs), self.resolution_of((*ours, *theirs)), explained)

    def resolution_of(self, trials: Iterable[Trial]) -> float:
        """Return the relative resolution of the values that these trials recorded.

        A load generator that records whole milliseconds can't tell 1.0 ms from 1.9 ms.
        """
        steps = [(self._step_of(trial), self.of(trial)) for trial in trials]
        return max([self.resolution, *(math.log1p(step / value) for step, value in steps if step and value)])

    def _step_of(self, trial: Trial) -> float | None:
        return trial.measurement.latency_step_us if self.is_latency and trial.measurement else self.step


PREFIXES = {FIRST_BYTE: "first_byte_us_", FIRST_EVENT: "first_event_us_", BETWEEN_EVENTS: "between_events_us_"}
"""Beginnings of the names of times other than the latency: in the code, and in the JSON export."""


def _latency(field: str) -> Figure:
    prefix = next((prefix for prefix in PREFIXES if field.startswith(prefix)), "")
    name = f"{PREFIXES.get(prefix, 'latency_us_')}{field.removeprefix(prefix)}"
    return Figure(name, lambda trial: trial.measurement.latency_us(field) if trial.measurement else None, RESOLUTION, is_latency=True)


THROUGHPUT = Figure("throughput_rps", lambda trial: throughput_rps(trial.measurement) if trial.measurement else None, has_slices=True)
P99 = _latency("p99")
CPU = Figure("cpu_us_per_request", cpu_us_per_request)
WALL = Figure("wall_s", lambda trial: trial.client.whole.wall_s if trial.client else None)
"""Wall time of a client's whole process."""
SPEED = Figure("runs_per_s", lambda trial: 1 / trial.client.whole.wall_s if trial.client else None)
"""Reciprocal of ``WALL``, because ranks need a result for which higher is better."""


def _startup(field: str, step: float | None = None) -> Figure:
    return Figure(field, lambda trial: getattr(trial.startup, field, None), step=step)


READY = _startup("ready_s")
"""Time until a server that starts has sent its first correct response."""
READY_SPEED = Figure("starts_per_s", lambda trial: 1 / trial.startup.ready_s if trial.startup else None)
"""Reciprocal of ``READY``, because ranks need a result for which higher is better."""
FIRST = _startup("first_us")
TO_STEADY = _startup("steady_s", step=0.1)
MEMORY_READY = _startup("rss_bytes_ready")

BY_NAME = {
    "rps": THROUGHPUT,
    "mean": _latency("mean"),
    "p50": _latency("p50"),
    "p90": _latency("p90"),
    "p95": _latency("p95"),
    "p99": P99,
    "p99.9": _latency("p99_9"),
    "ttfb-mean": _latency("ttfb_mean"),
    "ttfb-p50": _latency("ttfb_p50"),
    "ttfb-p90": _latency("ttfb_p90"),
    "ttfb-p95": _latency("ttfb_p95"),
    "ttfb-p99": _latency("ttfb_p99"),
    "ttfb-p99.9": _latency("ttfb_p99_9"),
    **{f"first-event-{name}": _latency(f"{FIRST_EVENT}{name}") for name in ("mean", "p50", "p90", "p99")},
    **{f"between-{name}": _latency(f"{BETWEEN_EVENTS}{name}") for name in ("mean", "p50", "p90", "p99")},
    "cpu": CPU,
    "memory": Figure("rss_bytes_peak", rss_bytes_peak),
    "time": WALL,
    "ready": READY,
    "first": FIRST,
    "to-steady": TO_STEADY,
    "memory-ready": MEMORY_READY,
    "memory-rest": _startup("rss_bytes_rest"),
    "size": _startup("installed_bytes"),
}
"""Results by name on the command line. ``time`` is the wall time of a client's whole process."""

HIGHER_IS_BETTER = frozenset({THROUGHPUT.name, SPEED.name, READY_SPEED.name})
"""Names of the results for which higher is better. For all others, lower is better."""

COSTS = ("cpu", "memory", "memory-ready", "memory-rest", "size")
"""Results on the command line that are costs. No limit beside the target changes them."""

LIMITED = frozenset(figure.name for name, figure in BY_NAME.items() if name not in COSTS) | {SPEED.name, READY_SPEED.name}
"""Names of the results that are only bounds if something other than the target was full: speed and times. The target could have been faster
in that case, and its latencies include time in which requests waited elsewhere."""

TAIL = frozenset(BY_NAME[name].name for name in ("mean", "p99", "p99.9"))
"""Names of the latencies that a stall of 1% of the time would raise if requests arrived at a steady rate."""
