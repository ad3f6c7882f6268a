"""Did the kernel kill programs because memory ran out?"""

from __future__ import annotations

from pathlib import Path

COUNTERS = Path("/proc/vmstat")


def kills() -> int:
    """How many since the machine started, those within control groups included; 0 if the kernel does not count them."""
    try:
        counters = dict(line.split() for line in COUNTERS.read_text().splitlines())
    except (OSError, ValueError):
        return 0
    return int(counters.get("oom_kill", 0))
