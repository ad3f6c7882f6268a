"""Rates relative to each target's own peak, which the closed loops of the same run measure.

All closed loops come first in the plan, so a rate is the same in all rounds.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from httpbench.errors import LoadError
from httpbench.model import Load, Trial, TrialPlan

DIGITS = 3
"""Number of significant digits of a rate."""

OWN_OF_OPEN_LOOP = ("share_of_peak", "peak_of", "arrivals", "warmup_s", "warmup_max_s", "duration_s")
"""Fields in which a load at a share of the peak may differ from the closed loop that measures the peak."""


def with_rate(planned: TrialPlan, made: Sequence[Trial]) -> TrialPlan:
    """Return a planned trial with the rate that follows from the peak of its target.

    Trials whose rate doesn't depend on a peak are returned unchanged, and so are those whose peak is unknown.
    """
    share = planned.load.share_of_peak
    if share is None or planned.load.rate_rps is not None or (peak_rps := peak(planned, made)) is None:
        return planned
    rate_rps = float(f"{share * peak_rps:.{DIGITS}g}")
    return planned.model_copy(update={"load": planned.load.model_copy(update={"rate_rps": rate_rps})})


def peak(planned: TrialPlan, made: Sequence[Trial]) -> float | None:
    """Return the peak of a target in requests/s: the median throughput of its closed loop over the rounds that count.

    For an overload, it is the highest median over all numbers of connections. ``None``: no round counts.
    """
    found: dict[Load, list[float]] = {}
    for trial in made:
        if trial.measurement is not None and trial.verdict.counts and _measures_peak(trial.plan, planned):
            found.setdefault(trial.plan.load, []).append(trial.measurement.throughput_rps)
    return max((statistics.median(rates) for rates in found.values()), default=None)


def no_rate(planned: TrialPlan) -> LoadError | None:
    """Return the error of a trial whose rate depends on a peak that is unknown, or ``None``."""
    if planned.load.share_of_peak is None or planned.load.rate_rps is not None:
        return None
    return LoadError(
        f"the peak of {planned.load.peak_of} is unknown, because none of its rounds without a rate is valid",
        hint="see the reasons in the table without a rate",
    )


def _measures_peak(closed: TrialPlan, planned: TrialPlan) -> bool:
    """Return whether a trial measures the peak that the rate of a planned trial depends on."""
    load = planned.load
    if closed.load.rate_rps is not None or closed.load.share_of_peak is not None or closed.target != load.peak_of:
        return False
    if (closed.workload, closed.load_generator, closed.cores) != (planned.workload, planned.load_generator, planned.cores):
        return False
    varies = (*OWN_OF_OPEN_LOOP, *(["connections"] if load.is_overload else []))
    return all(getattr(closed.load, name) == getattr(load, name) for name in Load.model_fields if name not in varies and name != "rate_rps")
