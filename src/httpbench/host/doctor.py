"""What on this machine will disturb a measurement, and what to do about each.

Nothing is changed, and nothing but files is read: what it takes is the moment for which it watches the other processes.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.host import knobs, quiet_activity, quiet_cpu, quiet_limits
from httpbench.host.finding import Finding
from httpbench.host.topology import Topology, read_topology

PAUSE_S = 0.3
ORDER = {"warning": 0, "note": 1, "ok": 2}


def examine(topology: Topology | None = None, root: Path = Path("/"), pause_s: float = PAUSE_S) -> list[Finding]:
    """All that was looked at, the worst first. What this machine does not have (a governor, say) is not among it."""
    cores = read_topology(root) if topology is None else topology
    found = [
        *quiet_cpu.findings(root, cores),
        *quiet_activity.findings(root, cores, pause_s),
        *quiet_limits.findings(root),
        *knobs.findings(root),
    ]
    return sorted(found, key=lambda finding: ORDER[finding.severity])
