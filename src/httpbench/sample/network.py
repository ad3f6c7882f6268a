"""Read the kernel's network counters over a period: retransmitted segments, refused connections, dropped packets, full links.

The meter reads four small files at the beginning and the end of the period. The counters cover the whole network namespace, including other
programs. They show that the network had problems, but not which program caused them.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from httpbench.model import Network
from httpbench.sample import link_limits
from httpbench.sample.links import LinkLimits, fullest_link, limits
from httpbench.sample.tree import content

PROC_NET = Path("/proc/net")
DROPPED_COLUMN = 1
"""Index of the column with dropped packets in ``softnet_stat``, which has a line of hexadecimal numbers per CPU (net/core/net-procfs.c)."""


FILES = ("snmp", "netstat", "softnet_stat", "dev")


class NetworkMeter:
    """A meter of network activity since the last ``mark()``, or since the meter was created.

    Counters that the kernel doesn't report are ``None``.
    """

    def __init__(self, folder: Path = PROC_NET):
        self._folder = folder
        self._limits = limits(link_limits.read())
        self.mark()

    def mark(self) -> None:
        self._begin_s = time.monotonic()
        self._before = self._read()

    def read(self) -> Network:
        return network(self._before, self._read(), time.monotonic() - self._begin_s, self._limits)

    def _read(self) -> dict[str, str]:
        return {name: content(f"{self._folder}/{name}").decode() for name in FILES}


def network(before: Mapping[str, str], after: Mapping[str, str], elapsed_s: float, capacities: LinkLimits) -> Network:
    """Return how much each counter grew between two readings of ``FILES``. If a container hides a file, its text is empty."""
    first, last = _counters(before), _counters(after)
    counts = {name: last[name] - count for name, count in first.items() if name in last}
    return Network(**counts, fullest_link=fullest_link(before["dev"], after["dev"], elapsed_s, capacities))


def _counters(files: Mapping[str, str]) -> dict[str, int]:
    tcp, extended = _pairs(files["snmp"], "Tcp"), _pairs(files["netstat"], "TcpExt")
    found = {
        "segments_sent": tcp.get("OutSegs"),
        "segments_retransmitted": tcp.get("RetransSegs"),
        "retransmission_timeouts": extended.get("TCPTimeouts"),
        "delayed_acks": extended.get("DelayedACKs"),
        "listen_overflows": extended.get("ListenOverflows"),
        "listen_drops": extended.get("ListenDrops"),
        "backlog_drops": _dropped(files["softnet_stat"]),
    }
    return {name: count for name, count in found.items() if count is not None}


def _pairs(text: str, name: str) -> dict[str, int]:
    """Parse a protocol's counters. The first line contains the names, the second line the values."""
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{name}:")]
    if len(lines) != 2:
        return {}
    return {key: int(value) for key, value in zip(lines[0][1:], lines[1][1:], strict=True)}


def _dropped(text: str) -> int | None:
    lines = text.splitlines()
    return sum(int(line.split()[DROPPED_COLUMN], 16) for line in lines) if lines else None
