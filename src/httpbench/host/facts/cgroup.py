"""CPU and memory limits of the harness's own control groups."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from httpbench.host.control_groups import groups_of


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of our control groups. ``None``: no limit."""

    version: int | None
    """1 or 2, or ``None`` if control groups aren't mounted."""
    cpu_cores: float | None
    """CPU time, in cores."""
    memory_bytes: int | None


def read_limits(root: Path = Path("/")) -> Limits:
    """Return the limits of this process."""
    groups = groups_of(root=root)
    return Limits(groups.version, groups.cpus(), groups.memory_bytes()) if groups else Limits(None, None, None)
