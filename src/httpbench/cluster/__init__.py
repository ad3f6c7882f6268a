"""Load generators on other hosts. A run uses the same interface to start load generators here and on other hosts."""

from __future__ import annotations

from httpbench.cluster.findings import findings_of
from httpbench.cluster.ssh_host import connected

__all__ = ["connected", "findings_of"]
