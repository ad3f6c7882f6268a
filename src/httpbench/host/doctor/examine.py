"""Find anything on this machine that will disturb a measurement, and how to fix it.

This only reads files and changes nothing. Most of the time goes into watching other processes.
"""

from __future__ import annotations

from pathlib import Path

from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.doctor import activity, limits, processor
from httpbench.host.finding import Finding, worst_first
from httpbench.host.knobs import all_knobs

PAUSE_S = 0.3


def examine(topology: Topology | None = None, root: Path = Path("/"), pause_s: float = PAUSE_S) -> list[Finding]:
    """Return all findings, the worst first. Features that this machine lacks, such as a governor, have none."""
    cores = read_topology(root) if topology is None else topology
    return worst_first(
        (
            *processor.findings(root, cores),
            *activity.findings(root, cores, pause_s),
            *limits.findings(root),
            *all_knobs.findings(root),
        )
    )
