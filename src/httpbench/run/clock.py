"""The wall clock, as results state it. Somebody may set it at any time, so no duration and no order depends on it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

SET_BACK_S_MIN = 1.0  # less is what a clock that is kept in time does


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClockCheck:
    """Compares the wall clock with one that cannot be set."""

    def __init__(self) -> None:
        self._offset_s = _offset_s()

    def problem(self) -> str | None:
        """By how much the wall clock was set back since the check was made, as a sentence; ``None`` if it was not."""
        set_back_s = self._offset_s - _offset_s()
        if set_back_s < SET_BACK_S_MIN:
            return None
        return f"the clock was set back by {set_back_s:,.0f} s during the run: times of day are wrong, durations are not affected"


def _offset_s() -> float:
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
