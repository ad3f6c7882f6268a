"""Which load hosts have not been heard of for too long.

Each agent says twice a second that it is there. Silence is counted in looks of this process and not in time: one that was kept off its core
itself has heard nothing, and blames nobody for it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from httpbench.cluster.dask.orders import BEAT_S

LOOK_S = BEAT_S
LOOKS_MAX = 4
SILENT_S = LOOK_S * LOOKS_MAX
"""So a link that is cut for 3 s is always noticed."""


class Silence:
    """Counts the looks since each load host was heard of."""

    def __init__(self, hosts: Iterable[str]):
        self._looks = dict.fromkeys(hosts, 0)

    def heard(self, host: str) -> None:
        if host in self._looks:
            self._looks[host] = 0

    def look(self, watched: Collection[str]) -> list[str]:
        """Those of the watched load hosts that were silent for too long, by name. To be called each ``LOOK_S``."""
        for host in self._looks:
            self._looks[host] += 1
        return sorted(host for host in watched if self._looks[host] > LOOKS_MAX)
