"""Summarize the wall times of a client over its rounds.

The standard deviation is that of the sample (with n − 1), as in hyperfine.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from httpbench.model import ClientMeasurement, Frozen


class ClientSummary(Frozen):
    """The results of one cell, over the rounds that count."""

    requests: int
    """Number of requests that the reference server counted in each timed run."""
    connections: int
    """Highest number of connections in a timed run."""
    in_flight_max: int
    """Highest number of concurrent requests in any round, including the runs in which the server delayed its responses."""
    times_s: tuple[float, ...]
    """Wall time of the whole process in each round, in seconds."""
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
    """Mean CPU time in user mode over all rounds, in seconds."""
    system_s: float
    """Mean CPU time in the kernel over all rounds, in seconds."""
    startup_s: float
    """Mean wall time of the same program without any requests, in seconds."""


def summarize_clients(rounds: Sequence[ClientMeasurement]) -> ClientSummary | None:
    """Return the summary of a client's rounds; ``None`` if there are no rounds.

    All rounds must belong to one cell, and the client must have done the required work in each round.
    """
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
