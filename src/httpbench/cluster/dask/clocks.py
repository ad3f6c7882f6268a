"""Conversion of an instant between the clocks of several hosts.

Wall clocks differ between hosts and can be adjusted at any time, so we read each host's monotonic clock over the network. A reading is
taken between the request and its response, so its error is at most half the round trip. Of several readings, we use the one with the
shortest round trip (F. Cristian, "Probabilistic clock synchronization", Distributed Computing 3, 1989).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

NS_PER_MS = 1e6
JUMP_MS_MAX = 5.0
"""Largest shift of a clock during a trial, beyond the error of its readings, that does not count as a jump."""


@dataclass(frozen=True, slots=True)
class Offset:
    """The time by which another host's clock is ahead of this machine's, in nanoseconds."""

    ahead_ns: int
    round_trip_ns: int

    @classmethod
    def of(cls, sent_ns: int, there_ns: int, received_ns: int) -> Self:
        """Return the offset from one reading; ``sent_ns`` and ``received_ns`` are on the clock of this machine."""
        round_trip_ns = received_ns - sent_ns
        return cls(there_ns - (sent_ns + round_trip_ns // 2), round_trip_ns)

    @property
    def round_trip_ms(self) -> float:
        return self.round_trip_ns / NS_PER_MS

    def there(self, here_ns: int) -> int:
        """Convert a time of this machine's clock to the other clock."""
        return here_ns + self.ahead_ns

    def here(self, there_ns: int) -> int:
        """Convert a time of the other clock to this machine's."""
        return there_ns - self.ahead_ns

    def jumped_ms(self, later: Offset) -> float | None:
        """Return how far the clock moved until ``later``, or ``None`` if the error of both readings explains it."""
        moved_ms = abs(later.ahead_ns - self.ahead_ns) / NS_PER_MS
        error_ms = (self.round_trip_ms + later.round_trip_ms) / 2
        return moved_ms if moved_ms > JUMP_MS_MAX + error_ms else None
