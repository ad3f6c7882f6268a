"""Load generators on other hosts. A run starts all load generators through the same interface, wherever they run."""

from __future__ import annotations

from httpbench.cluster.findings import findings_of
from httpbench.cluster.ssh_host import connected

__all__ = ["connected", "findings_of"]
