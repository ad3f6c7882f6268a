"""Find stalls of a target that the p99 of a closed loop hides.

While a target stands still, a closed loop sends nothing, so a stall of any length delays only one request per connection (*coordinated
omission*). Users who keep sending would meet every stall: if a target stands still for 1% of the time, 1% of the requests that arrive at a
steady rate wait, for half a stall on average.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from httpbench.model import Trial

BEYOND_P99 = 0.01
"""Share of requests beyond the p99."""


@dataclass(frozen=True, slots=True)
class HiddenStalls:
    """Stalls of the worst round."""

    count: int
    longest_us: float


def hidden_stalls(trials: Sequence[Trial]) -> HiddenStalls | None:
    """Return the stalls that the p99 of most rounds that count hides, from the worst of them; ``None`` if it hides none."""
    counting = [trial for trial in trials if trial.verdict.counts]
    hiding = [trial.measurement.stalls for trial in counting if trial.measurement and trial.measurement.stalls and _hides(trial)]
    if not hiding or 2 * len(hiding) < len(counting):
        return None
    worst = max(hiding, key=lambda stalls: stalls.total_us)
    return HiddenStalls(worst.count, worst.longest_us)


def _hides(trial: Trial) -> bool:
    measured = trial.measurement
    if measured is None or measured.stalls is None or measured.stalls.count == 0:
        return False
    p99_us = measured.times_us.p99 if measured.times_us else None
    share = measured.stalls.total_us / (measured.duration_s * 1e6)
    half_us = measured.stalls.total_us / measured.stalls.count / 2
    return share >= BEYOND_P99 and (p99_us is None or p99_us < half_us)
