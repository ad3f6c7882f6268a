"""The wall clock, as recorded in results. It can be set at any time, so no duration or order depends on it."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

STEP_S_MIN = 1.0  # normal clock synchronization makes smaller changes


def now() -> str:
    """Return the current time in UTC, in ISO 8601 format with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClockCheck:
    """A check that compares the wall clock with clocks that can't be set."""

    def __init__(self) -> None:
        self._offset_s, self._suspended_s = _offset_s(), _suspended_s()

    def problems(self) -> Iterator[str]:
        """Yield a warning if the wall clock was set since this object was created, and one if the machine was suspended."""
        step_s, suspended_s = _offset_s() - self._offset_s, _suspended_s() - self._suspended_s
        if abs(step_s) >= STEP_S_MIN:
            way = f"{'forward' if step_s > 0 else 'back'} by {abs(step_s):,.0f} s"
            yield f"the clock was set {way} during the run: times of day are wrong, durations are not affected"
        if suspended_s >= STEP_S_MIN:
            span = f"{suspended_s:,.0f} s"
            yield f"the machine was suspended for {span} during the run: the trial at that time may be wrong; hint: run it again"


def _offset_s() -> float:
    """Return the wall clock minus the time since boot, which includes the time for which the machine was suspended."""
    return time.clock_gettime(time.CLOCK_REALTIME) - time.clock_gettime(time.CLOCK_BOOTTIME)


def _suspended_s() -> float:
    """Return for how long the machine has been suspended since boot."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) - time.clock_gettime(time.CLOCK_MONOTONIC)
