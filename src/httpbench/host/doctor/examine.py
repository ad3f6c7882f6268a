"""What on this machine will disturb a measurement, and what to do about it.

Nothing is changed, and only files are read. It takes as long as it watches the other processes.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.doctor import activity, limits, ports, processor
from httpbench.host.finding import Finding
from httpbench.host.knobs import all_knobs

PAUSE_S = 0.3
ORDER = {"warning": 0, "note": 1, "ok": 2}


def examine(topology: Topology | None = None, root: Path = Path("/"), pause_s: float = PAUSE_S) -> list[Finding]:
    """All findings, the worst first. What this machine does not have, such as a governor, has none."""
    cores = read_topology(root) if topology is None else topology
    found = [
        *processor.findings(root, cores),
        *activity.findings(root, cores, pause_s),
        *limits.findings(root),
        *ports.findings(root),
        *all_knobs.findings(root),
    ]
    return sorted(found, key=lambda finding: ORDER[finding.severity])
