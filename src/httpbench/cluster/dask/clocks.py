"""One instant in the terms of many clocks.

Wall clocks of hosts differ, and are set while they run. Each host's monotonic clock is read over the network instead: a reading lies
between the request and its response, so its error is at most half the round trip. Of several readings the one with the shortest round
trip is used (F. Cristian, «Probabilistic clock synchronization», Distributed Computing 3, 1989).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

NS_PER_MS = 1e6
JUMP_MS_MAX = 5.0
"""A clock that moved further than this during a trial, beyond what its readings may err by, has jumped."""


@dataclass(frozen=True, slots=True)
class Reading:
    """Another host's clock, read once. All in nanoseconds: ``sent`` and ``received`` on the clock of this machine."""

    sent_ns: int
    there_ns: int
    received_ns: int


@dataclass(frozen=True, slots=True)
class Offset:
    """How far another host's clock is ahead of this machine's, in nanoseconds."""

    ahead_ns: int
    round_trip_ns: int

    @property
    def round_trip_ms(self) -> float:
        return self.round_trip_ns / NS_PER_MS

    def there(self, here_ns: int) -> int:
        """An instant of this machine's clock, on the other clock."""
        return here_ns + self.ahead_ns

    def here(self, there_ns: int) -> int:
        """An instant of the other clock, on this machine's."""
        return there_ns - self.ahead_ns

    def jumped_ms(self, later: Offset) -> float | None:
        """How far the clock moved until ``later``; ``None`` if that is within what both readings may err by."""
        moved_ms = abs(later.ahead_ns - self.ahead_ns) / NS_PER_MS
        error_ms = (self.round_trip_ms + later.round_trip_ms) / 2
        return moved_ms if moved_ms > JUMP_MS_MAX + error_ms else None


def offset(readings: Sequence[Reading]) -> Offset:
    """From the reading with the shortest round trip; at least one is required."""
    best = min(readings, key=lambda reading: reading.received_ns - reading.sent_ns)
    round_trip_ns = best.received_ns - best.sent_ns
    return Offset(best.there_ns - (best.sent_ns + round_trip_ns // 2), round_trip_ns)
