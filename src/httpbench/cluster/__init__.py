"""Load generators on other hosts: a run gets one of these places, and does not know which."""

from __future__ import annotations

from httpbench.cluster.findings import findings_of
from httpbench.cluster.ssh_host import SshLoadHost, connected

__all__ = ["SshLoadHost", "connected", "findings_of"]
