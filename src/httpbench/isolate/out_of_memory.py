"""Count the programs that the kernel killed because memory ran out."""

from __future__ import annotations

from pathlib import Path

COUNTERS = Path("/proc/vmstat")


def kills() -> int:
    """Return the kills since boot, including those within control groups, or 0 if the kernel doesn't count them."""
    try:
        counters = dict(line.split() for line in COUNTERS.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counters.get("oom_kill", 0))
