"""Programs that are no part of a run, and what they used while a trial was measured."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Stranger(Frozen):
    """A process that is no part of the run and that used CPU time while a trial was measured."""

    name: str
    """Name of its program, as the kernel knows it: at most 15 characters."""
    pid: int
    """Process id."""
    cores: float
    """Mean CPU use over the measured period, on any CPU, in cores' worth."""
    cpus: tuple[int, ...] = ()
    """Logical CPUs on which its threads ran last, at both ends of the period."""
    cpus_allowed: tuple[int, ...] = ()
    """Logical CPUs on which it may run."""
    is_kernel: bool = False
    """Whether it is a thread of the kernel."""
    is_of_children: bool = False
    """Whether ``cores`` is the CPU use of its children that ended within the period, and not its own."""


class SharedQuota(Frozen):
    """The CPU quota of a control group that httpbench itself is in, with whatever else runs there."""

    throttled_share: float
    """Share of its periods in which it was used up, 0 to 1."""
    used_cores: float
    """CPU use of all programs in the group, in cores' worth."""


class Others(Frozen):
    """What ran on the machine besides the programs of a trial, while it was measured."""

    strangers: tuple[Stranger, ...] = ()
    """Those that may have run on the measured cores, highest CPU use first; at most sixteen."""
    harness_cores: float = 0.0
    """Mean CPU use of httpbench itself, in cores' worth."""
    all_visible: bool = True
    """Whether httpbench sees every process of the machine. False in most containers."""
    quota: SharedQuota | None = None
    """The quota that httpbench shares with them. Null: none, or the kernel does not report it."""
