"""Profiles: where a target spent CPU time under load, and what it asked of the kernel."""

from __future__ import annotations

from pydantic import Field

from httpbench.model.frozen import Frozen, Id, WorkloadName
from httpbench.model.load import Load
from httpbench.model.target import Scaling

KERNEL_MARK = "_[k]"
"""End of the names of the kernel's functions in folded stacks."""

NOT_SAMPLED = f"[not sampled]{KERNEL_MARK}"
"""Stack of CPU time without samples: interrupts were off, this user may not sample the kernel, or py-spy looked too late."""


class ProfiledSlice(Frozen):
    """The samples of one slice."""

    requests: int = Field(ge=0)
    """Number of responses during the slice, lead-in and drain included."""
    cpu_s: float = Field(ge=0)
    """CPU time of the target during the slice, lead-in and drain included, in seconds."""
    stacks: dict[str, int]
    """Number of samples per stack. Frames are separated by semicolons, outermost first. Frames of the kernel end with ``_[k]``. The
    stack ``[not sampled]_[k]`` is CPU time in which no sample could be taken."""


class KernelCounts(Frozen):
    """What the kernel did for a target in a slice of the profiled round that has no samples, lead-in and drain included.

    Null: the kernel doesn't count it, or not for this user.
    """

    requests: int = Field(ge=0)
    """Number of responses during the counts."""
    syscalls: int | None = None
    """Number of system calls."""
    switches: int | None = None
    """Number of context switches away from the target's threads, voluntary and involuntary."""
    minor_faults: int | None = None
    """Number of page faults that needed no disk."""
    writes: int | None = None
    """Number of system calls that sent data, such as ``write`` and ``sendmsg``."""
    packets: int | None = None
    """Number of packets (TCP segments) that the load's connections sent and received. Each counts once."""
    bytes_sent: int | None = None
    """Number of bytes that the target sent over the load's connections, without the headers of packets."""


class Profile(Frozen):
    """The profile of a target in a round that counts for nothing else."""

    target: Id
    """Id of the target."""
    scaling: Scaling
    """Scaling of the target."""
    workload: WorkloadName
    """Name of the workload."""
    load: Load
    """Load of the profiled round."""
    profiler: str
    """Program that took the samples, with its event if it has several, such as ``perf (cpu-clock)``."""
    frequency_hz: float = Field(gt=0)
    """Samples per second of CPU time."""
    sees_kernel: bool = True
    """Whether the samples include the kernel. False: this user may only sample user space, so its CPU time has no other stacks."""
    throughput_rps: float = Field(ge=0)
    """Throughput of the profiled slices, in requests per second. Profilers slow their targets."""
    slices: tuple[ProfiledSlice, ...]
    """The profiled slices in order."""
    counts: KernelCounts | None = None
    """What the kernel counted. Null: nothing."""

    def is_of(self, target: str, scaling: Scaling, workload: str, load: Load) -> bool:
        """Return whether this is the profile of a target under a load, whose durations may differ."""
        own = self.load.model_copy(update={name: getattr(load, name) for name in ("duration_s", "warmup_s", "warmup_max_s")})
        return (self.target, self.scaling, self.workload, own) == (target, scaling, workload, load)
