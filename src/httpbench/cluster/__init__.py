"""Load generators on other hosts. A run starts them through one interface, wherever they are."""

from __future__ import annotations

from httpbench.cluster.findings import findings_of
from httpbench.cluster.ssh_host import connected

__all__ = ["connected", "findings_of"]
