"""Find stalls of a target that don't show up in the p99 of a closed loop.

While a target stalls, a closed loop sends no further requests, so a stall of any length delays only one request per connection
(*coordinated omission*). Real users keep sending requests. If a target stalls for 1% of the time while requests arrive at a steady rate, 1%
of the requests are delayed. Their mean delay is half the length of a stall.
"""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Measurement, Stalls, Trial

BEYOND_P99 = 0.01
"""Share of requests that are slower than the p99."""


def hidden_stalls(trials: Sequence[Trial]) -> Stalls | None:
    """Return the stalls of the worst round if the p99 hides stalls in at least half of the rounds that count, else ``None``."""
    counting = [trial.measurement for trial in trials if trial.verdict.counts]
    hiding = [measured.stalls for measured in counting if measured and measured.stalls and _hides(measured, measured.stalls)]
    if not hiding or 2 * len(hiding) < len(counting):
        return None
    return max(hiding, key=lambda stalls: stalls.total_us)


def are_unreported(trials: Sequence[Trial]) -> bool:
    """Return whether the load generator didn't report the target's stalls in a round of a closed loop that counts."""
    return any(trial.measurement.stalls is None for trial in trials if trial.measurement and trial.verdict.counts)


def _hides(measured: Measurement, stalls: Stalls) -> bool:
    if stalls.count == 0:
        return False
    p99_us = measured.times_us.p99 if measured.times_us else None
    share = stalls.total_us / (measured.duration_s * 1e6)
    half_us = stalls.total_us / stalls.count / 2
    return share >= BEYOND_P99 and (p99_us is None or p99_us < half_us)
