"""Check that there are enough free ports for new connections."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from httpbench.host.finding import Finding, judged
from httpbench.host.kernel_files import read_text

CLOSED_SHARE_MAX = 0.25
"""Maximum share of the local ports in TIME_WAIT before a run."""


def findings(root: Path) -> Iterator[Finding]:
    """Yield a finding for the network namespace of this process."""
    sockets, ports = read_text(root / "proc/net/sockstat") or "", (read_text(root / "proc/sys/net/ipv4/ip_local_port_range") or "").split()
    waiting = re.search(r"^TCP:.* tw (\d+)", sockets, re.MULTILINE)
    if waiting is None or len(ports) != 2:
        return
    count, total = int(waiting[1]), int(ports[1]) - int(ports[0]) + 1
    yield judged(
        "time-wait",
        count <= CLOSED_SHARE_MAX * total,
        f"{count:,} of {total:,} local ports are held by closed connections (TIME_WAIT)",
        "each new connection requires a free port",
        "wait a minute, or allow more ports: sysctl -w net.ipv4.ip_local_port_range='16384 65535'",
    )
