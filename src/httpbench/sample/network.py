"""What the kernel's network stack counted over a period: retransmitted segments, refused connections, dropped packets.

Reads three small files at each end of the period. The counters are those of the whole network namespace, so they include losses of other
programs: they show that the network had problems, not whose.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.model import Network

PROC_NET = Path("/proc/net")
DROPPED_COLUMN = 1
"""Of ``softnet_stat``, one line for each CPU, in hexadecimal (net/core/net-procfs.c)."""


class NetworkMeter:
    """Counts from the last ``mark()``; without one, from its creation. What the kernel does not report is ``None``."""

    def __init__(self, folder: Path = PROC_NET):
        self._folder = folder
        self.mark()

    def mark(self) -> None:
        self._before = self._read()

    def read(self) -> Network:
        after = self._read()
        return Network(**{name: after[name] - count for name, count in self._before.items() if name in after})

    def _read(self) -> dict[str, int]:
        tcp = _pairs(self._folder / "snmp", "Tcp")
        extended = _pairs(self._folder / "netstat", "TcpExt")
        found = {
            "segments_sent": tcp.get("OutSegs"),
            "segments_retransmitted": tcp.get("RetransSegs"),
            "retransmission_timeouts": extended.get("TCPTimeouts"),
            "listen_overflows": extended.get("ListenOverflows"),
            "listen_drops": extended.get("ListenDrops"),
            "backlog_drops": _dropped(self._folder / "softnet_stat"),
        }
        return {name: count for name, count in found.items() if count is not None}


def _pairs(path: Path, name: str) -> dict[str, int]:
    """Counters of a protocol: its first line has their names, its second line their values."""
    lines = [line.split() for line in _lines(path) if line.startswith(f"{name}:")]
    if len(lines) != 2:
        return {}
    return {key: int(value) for key, value in zip(lines[0][1:], lines[1][1:], strict=True)}


def _dropped(path: Path) -> int | None:
    lines = _lines(path)
    return sum(int(line.split()[DROPPED_COLUMN], 16) for line in lines) if lines else None


def _lines(path: Path) -> list[str]:
    try:
        return path.read_text().splitlines()
    except OSError:
        return []  # some containers hide them
