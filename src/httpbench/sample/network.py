"""What the kernel's network stack counted over a period: retransmitted segments, refused connections, dropped packets.

Reads three small files at each end of the period. The counters are those of the whole network namespace, so they include losses of other
programs: they show that the network had problems, not whose.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from httpbench.model import Network

PROC_NET = Path("/proc/net")
DROPPED_COLUMN = 1
"""Of ``softnet_stat``, one line for each CPU, in hexadecimal (net/core/net-procfs.c)."""


FILES = ("snmp", "netstat", "softnet_stat")


class NetworkMeter:
    """Counts from the last ``mark()``; without one, from its creation. What the kernel does not report is ``None``."""

    def __init__(self, folder: Path = PROC_NET):
        self._folder = folder
        self.mark()

    def mark(self) -> None:
        self._before = self._read()

    def read(self) -> Network:
        return network(self._before, self._read())

    def _read(self) -> dict[str, str]:
        return {name: _text(self._folder / name) for name in FILES}


def network(before: Mapping[str, str], after: Mapping[str, str]) -> Network:
    """What was counted between two readings of the files, by name; empty for those that some containers hide."""
    first, last = _counters(before), _counters(after)
    return Network(**{name: last[name] - count for name, count in first.items() if name in last})


def _counters(files: Mapping[str, str]) -> dict[str, int]:
    tcp, extended = _pairs(files["snmp"], "Tcp"), _pairs(files["netstat"], "TcpExt")
    found = {
        "segments_sent": tcp.get("OutSegs"),
        "segments_retransmitted": tcp.get("RetransSegs"),
        "retransmission_timeouts": extended.get("TCPTimeouts"),
        "listen_overflows": extended.get("ListenOverflows"),
        "listen_drops": extended.get("ListenDrops"),
        "backlog_drops": _dropped(files["softnet_stat"]),
    }
    return {name: count for name, count in found.items() if count is not None}


def _pairs(text: str, name: str) -> dict[str, int]:
    """Counters of a protocol: its first line has their names, its second line their values."""
    lines = [line.split() for line in text.splitlines() if line.startswith(f"{name}:")]
    if len(lines) != 2:
        return {}
    return {key: int(value) for key, value in zip(lines[0][1:], lines[1][1:], strict=True)}


def _dropped(text: str) -> int | None:
    lines = text.splitlines()
    return sum(int(line.split()[DROPPED_COLUMN], 16) for line in lines) if lines else None


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""  # some containers hide them
