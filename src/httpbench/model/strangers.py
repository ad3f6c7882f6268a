"""Programs outside a run, and what they used during a trial."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Stranger(Frozen):
    """A process outside the run that used CPU time during a trial."""

    name: str
    """Name of its program in the kernel, at most 15 characters."""
    pid: int
    """Process id."""
    cores: float
    """Mean CPU use over the measured period on any CPU, in cores."""
    cpus: tuple[int, ...] = ()
    """Logical CPUs of its threads at the start and the end of the period."""
    cpus_allowed: tuple[int, ...] = ()
    """Logical CPUs that it may use."""
    is_kernel: bool = False
    """Whether it is a kernel thread."""
    is_of_children: bool = False
    """Whether ``cores`` is the CPU use of its children that ended within the period instead of its own."""


class SharedQuota(Frozen):
    """The CPU quota of a control group that contains httpbench and possibly other programs."""

    throttled_share: float
    """Share of periods in which the quota was used up, 0 to 1."""
    used_cores: float
    """CPU use of all programs in the group, in cores."""


class Others(Frozen):
    """Other programs on the machine during a trial."""

    strangers: tuple[Stranger, ...] = ()
    """Processes that may have run on the measured cores, in descending order of CPU use; at most sixteen."""
    harness_cores: float = 0.0
    """Mean CPU use of httpbench itself, in cores."""
    all_visible: bool = True
    """Whether httpbench can see every process of the machine; false in most containers."""
    quota: SharedQuota | None = None
    """CPU quota that httpbench shares with other programs. Null: none, or the kernel does not report it."""
