"""Finds load hosts that have been silent for too long.

Each agent sends a heartbeat twice a second. We count checks of this process rather than time: if this process itself got no CPU time, it
heard nothing, and no load host is to blame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from httpbench.cluster.dask.orders import BEAT_S

LOOK_S = BEAT_S
LOOKS_MAX = 4
SILENT_S = LOOK_S * LOOKS_MAX
"""A link that is cut for 3 s is always noticed."""


class Silence:
    """Counts the checks since the last heartbeat of each load host."""

    def __init__(self, hosts: Iterable[str]):
        self._looks = dict.fromkeys(hosts, 0)

    def heard(self, host: str) -> None:
        if host in self._looks:
            self._looks[host] = 0

    def look(self, watched: Collection[str]) -> list[str]:
        """Return the watched load hosts that have been silent for too long, by name. Call this every ``LOOK_S``."""
        for host in self._looks:
            self._looks[host] += 1
        return sorted(host for host in watched if self._looks[host] > LOOKS_MAX)
