"""Find targets whose responses wait for delayed acknowledgments.

If a server sends a response in two small writes, Nagle's algorithm (RFC 896) holds back the second one until the first is acknowledged. The
client has nothing to send, so it delays its acknowledgment (RFC 1122, 4.2.3.2), by 40 ms on Linux. Neither program is busy in this time.
"""

from __future__ import annotations

from collections.abc import Sequence

from httpbench.model import Trial, VerdictKind

DELAY_US = (38_000.0, 60_000.0)
"""Range of median service times with one delayed acknowledgment per response, in µs. The delay is 40 ms, and timers have a granularity."""

SHARE_MIN = 0.5
"""Minimum number of delayed acknowledgments per response. The counter covers all programs, but they rarely cause this many."""


def waiting_us(trials: Sequence[Trial]) -> float | None:
    """Return the median service time of the last such round if most counting rounds waited for acknowledgments, else ``None``."""
    counting = [trial for trial in trials if trial.verdict.counts]
    found = [time_us for trial in counting if (time_us := _waiting_us(trial)) is not None]
    return found[-1] if 2 * len(found) > len(counting) else None


def _waiting_us(trial: Trial) -> float | None:
    measured, network = trial.measurement, trial.observed.network
    times = (measured.service_time_us or measured.times_us) if measured else None
    if measured is None or times is None or times.p50 is None or not DELAY_US[0] <= times.p50 <= DELAY_US[1]:
        return None
    if network is None or network.delayed_acks is None:
        return times.p50 if trial.verdict.kind is VerdictKind.IDLE else None
    return times.p50 if network.delayed_acks >= SHARE_MIN * measured.requests.completed else None
