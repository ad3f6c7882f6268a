"""A program's current use of the machine, for live display only."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Current:
    """A program's use of the machine at the last sample."""

    cpu_cores: float
    """CPU use over about the last second, in cores."""
    rss_bytes: int
    """Resident memory, summed over its processes."""
    throttled_share: float | None = None
    """Share of a CPU quota's periods that throttled it since the window began, or ``None`` without a quota."""

    def __str__(self) -> str:
        """Return text such as ``87% CPU, 12 MB`` or, if a quota was reached, ``50% CPU (throttled 41%), 12 MB``."""
        throttled = f" (throttled {self.throttled_share * 100:.0f}%)" if self.throttled_share else ""
        return f"{self.cpu_cores * 100:.0f}% CPU{throttled}, {self.rss_bytes / 1e6:,.0f} MB"
