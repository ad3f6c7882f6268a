"""Prove the limits of a container by reading its control groups and by burning CPU time inside them."""

from __future__ import annotations

import mmap
from collections.abc import Sequence

from httpbench.errors import LimitError
from httpbench.host.control_groups import ControlGroups
from httpbench.isolate.burn import TOLERANCE, burned_cpus
from httpbench.isolate.launch import size_text
from httpbench.model import Isolation

CPUS_TOLERANCE = 0.01  # engines round the quota to 10 µs of a 100 ms period


def prove(isolation: Isolation, cpuset: Sequence[int], groups: ControlGroups) -> float | None:
    """Return the CPU that a burn inside the limits got, in cores, or ``None`` without root, when the limits are only read.

    Raises :class:`LimitError` with each limit that isn't in force.
    """
    if wrong := not_in_force(isolation, cpuset, groups):
        raise LimitError("; ".join(wrong), hint=f"check the version and the settings of {isolation.engine}")
    burned = burned_cpus(groups, isolation.cpus)
    if burned is not None and burned > TOLERANCE * isolation.cpus:
        raise LimitError(f"--cpus {isolation.cpus:g} is not in force: a burn inside the container used {burned:.2f} cores")
    return burned


def not_in_force(isolation: Isolation, cpuset: Sequence[int], groups: ControlGroups) -> list[str]:
    """Return a clause for each limit that differs between the request and the control groups."""
    cpus, memory, allowed = groups.cpus(), groups.memory_bytes(), groups.cpuset()
    has_cpus = cpus is not None and abs(cpus - isolation.cpus) <= CPUS_TOLERANCE * isolation.cpus
    has_memory = memory is not None and abs(memory - isolation.memory_bytes) <= mmap.PAGESIZE
    limits = (
        (f"--cpus {isolation.cpus:g}", has_cpus, "no CPU limit" if cpus is None else f"{cpus:g} cores"),
        (f"--memory {size_text(isolation.memory_bytes)}", has_memory, "no memory limit" if memory is None else f"{memory:,} bytes"),
        (f"--cpuset-cpus {_list(cpuset)}", allowed == tuple(sorted(cpuset)), _list(allowed) or "none"),
    )
    return [f"{option} is not in force: the container's control groups have {found}" for option, holds, found in limits if not holds]


def _list(cpus: Sequence[int] | None) -> str:
    return ",".join(map(str, cpus or ()))
