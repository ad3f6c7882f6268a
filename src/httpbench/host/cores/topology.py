"""The CPUs that we may use, grouped by physical core (SMT siblings) and NUMA node.

Each call reads a few small files per CPU from /sys. If /sys is hidden, as in some containers, each logical CPU counts as a separate core on
node 0. This is correct if SMT is off and the machine has one node.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.host.kernel_files import CPU, NODE, cpu_list, read_int, read_text

FULL_CAPACITY = 1024  # the fastest kind of core, on the kernel's scale


@dataclass(frozen=True, slots=True)
class Core:
    """A physical core."""

    cpus: tuple[int, ...]
    """Logical CPUs of the core that we may use."""
    siblings: tuple[int, ...]
    """All online logical CPUs of the core, including those that we may not use."""
    node: int
    """NUMA node."""
    capacity: int
    """Speed on the kernel's scale, up to 1024; lower for the efficiency cores of a hybrid CPU."""


@dataclass(frozen=True, slots=True)
class Topology:
    """The cores, sorted by speed (slowest first), then by node, then by number."""

    cores: tuple[Core, ...]

    @property
    def cpus(self) -> tuple[int, ...]:
        """Every logical CPU that we may use."""
        return tuple(sorted(cpu for core in self.cores for cpu in core.cpus))

    def groups(self, cpus: Collection[int]) -> tuple[tuple[int, ...], ...]:
        """Group logical CPUs by physical core. A target gets as many workers as there are groups."""
        allowed = set(cpus)
        return tuple(sorted(group for core in self.cores if (group := tuple(cpu for cpu in core.cpus if cpu in allowed))))


def read_topology(root: Path = Path("/"), allowed: Collection[int] | None = None) -> Topology:
    """Return the topology of this machine. ``allowed`` are the logical CPUs to include (default: our affinity mask)."""
    left = set(os.sched_getaffinity(0) if allowed is None else allowed)
    nodes = _nodes(root)
    cores: list[Core] = []
    while left:
        first = min(left)
        siblings = _siblings(root, first)
        cpus = tuple(cpu for cpu in siblings if cpu in left)
        left.difference_update(cpus)
        capacity = read_int(root / CPU / f"cpu{first}/cpu_capacity") or FULL_CAPACITY
        cores.append(Core(cpus, siblings, nodes.get(first, 0), capacity))
    return Topology(tuple(sorted(cores, key=lambda core: (core.capacity, core.node, core.cpus))))


def core_groups(cpus: Sequence[int], root: Path = Path("/")) -> tuple[tuple[int, ...], ...]:
    """Return :meth:`Topology.groups` for the current topology."""
    return read_topology(root, cpus).groups(cpus)


def _siblings(root: Path, cpu: int) -> tuple[int, ...]:
    folder = root / CPU / f"cpu{cpu}/topology"
    text = read_text(folder / "core_cpus_list") or read_text(folder / "thread_siblings_list")  # Linux before 5.3 has only the second
    return tuple(sorted({cpu, *cpu_list(text or "")}))


def _nodes(root: Path) -> dict[int, int]:
    """Return the NUMA node of each CPU."""
    return {
        cpu: int(folder.name.removeprefix("node"))
        for folder in (root / NODE).glob("node[0-9]*")
        for cpu in cpu_list(read_text(folder / "cpulist") or "")
    }
