"""The wall clock, as recorded in results. It can be set at any time, so no duration or order depends on it."""

from __future__ import annotations

import time
from datetime import UTC, datetime

SET_BACK_S_MIN = 1.0  # normal clock synchronization makes smaller changes


def now() -> str:
    """Return the time in UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class ClockCheck:
    """A comparison of the wall clock with a clock that can't be set."""

    def __init__(self) -> None:
        self._offset_s = _offset_s()

    def problem(self) -> str | None:
        """Return a sentence if the wall clock was set back since this object was created, else ``None``."""
        set_back_s = self._offset_s - _offset_s()
        if set_back_s < SET_BACK_S_MIN:
            return None
        return f"the clock was set back by {set_back_s:,.0f} s during the run: times of day are wrong, durations are not affected"


def _offset_s() -> float:
    return time.time() - time.clock_gettime(time.CLOCK_BOOTTIME)
