"""What a program costs at this moment: for the eye of who watches, not for a result."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Current:
    """A program's use of the machine at the last sample."""

    cpu_cores: float
    """CPU use over about the last second, in cores' worth."""
    rss_bytes: int
    """Resident memory, summed over its processes."""
    throttled_share: float | None = None
    """Share of the periods of a CPU quota in which it was stopped, since the window began. ``None``: no quota."""

    def __str__(self) -> str:
        """``87% CPU, 12 MB``; with a quota that was reached, ``50% CPU (throttled 41%), 12 MB``."""
        throttled = f" (throttled {self.throttled_share * 100:.0f}%)" if self.throttled_share else ""
        return f"{self.cpu_cores * 100:.0f}% CPU{throttled}, {self.rss_bytes / 1e6:,.0f} MB"
