"""Rounds of a client: how long its whole process takes, and how that compares, in hyperfine's terms.

Mean and standard deviation are over rounds, n − 1 in the latter. The relative speed of two is the ratio of their means; its standard
deviation is that of a ratio of independent figures by first-order propagation, r · √((σₐ/a)² + (σᵦ/b)²), as hyperfine computes it.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.model import ClientMeasurement, Frozen


class ClientSummary(Frozen):
    """Of one cell, over the rounds that count."""

    requests: int
    """Requests that the reference server counted in each timed run."""
    connections: int
    """Highest number of connections in a timed run."""
    in_flight_max: int
    """Highest number of requests in flight at once, over all rounds, those with delayed responses included."""
    times_s: tuple[float, ...]
    """Wall time of the whole process, round by round, in seconds."""
    mean_s: float
    """Mean wall time, in seconds."""
    stddev_s: float | None
    """Standard deviation of the wall time, in seconds. Null: a single round."""
    median_s: float
    """Median wall time, in seconds."""
    min_s: float
    """Shortest wall time, in seconds."""
    max_s: float
    """Longest wall time, in seconds."""
    user_s: float
    """CPU time in user mode, mean over rounds, in seconds."""
    system_s: float
    """CPU time in the kernel, mean over rounds, in seconds."""
    startup_s: float
    """Wall time of the same program, told to make no request, in seconds."""


@dataclass(frozen=True, slots=True)
class Relative:
    """How often the fastest's time fits into another's."""

    ratio: float
    stddev: float | None
    """``None`` for the fastest itself, and where one of both has a single round."""


def summarise_clients(rounds: Sequence[ClientMeasurement]) -> ClientSummary | None:
    """``None`` where there are none. All are of one cell, and did the required work."""
    if not rounds:
        return None
    times_s = tuple(one.whole.wall_s for one in rounds)
    return ClientSummary(
        requests=rounds[0].done.requests,
        connections=max(one.done.connections for one in rounds),
        in_flight_max=max(max(one.done.in_flight_max, one.done_held.in_flight_max) for one in rounds),
        times_s=times_s,
        mean_s=statistics.fmean(times_s),
        stddev_s=statistics.stdev(times_s) if len(times_s) > 1 else None,
        median_s=statistics.median(times_s),
        min_s=min(times_s),
        max_s=max(times_s),
        user_s=statistics.fmean(one.whole.user_s for one in rounds),
        system_s=statistics.fmean(one.whole.system_s for one in rounds),
        startup_s=statistics.fmean(one.startup.wall_s for one in rounds),
    )


def relative(ours: ClientSummary, fastest: ClientSummary) -> Relative:
    """Our mean in multiples of the fastest's."""
    ratio = ours.mean_s / fastest.mean_s
    if ours is fastest or ours.stddev_s is None or fastest.stddev_s is None:
        return Relative(ratio, None)
    return Relative(ratio, ratio * math.hypot(ours.stddev_s / ours.mean_s, fastest.stddev_s / fastest.mean_s))
