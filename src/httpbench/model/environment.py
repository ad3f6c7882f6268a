"""The machines of a run."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Environment(Frozen):
    """What must match before two runs are compared."""

    hostname: str
    """Name of the machine."""
    cpu_model: str
    """Model of the CPU."""
    cpus_online: int
    """Number of logical CPUs that are online."""
    cpus_allowed: tuple[int, ...]
    """Logical CPUs that httpbench may use."""
    smt: bool | None
    """Whether simultaneous multithreading is active. Null: unknown."""
    governor: str | None
    """Frequency governor, joined by commas if CPUs differ. Null: there is none."""
    turbo: bool | None
    """Whether cores may exceed their nominal frequency. Null: the kernel does not control it."""
    mitigations: dict[str, str]
    """State of each known weakness of the CPU, by its name in ``/sys``."""
    memory_bytes: int
    """Physical memory, in bytes."""
    kernel: str
    """Release of the kernel."""
    os: str
    """Name and version of the operating system."""
    virtualization: str | None
    """Name of the hypervisor. Null: bare metal."""
    load_average_1m: float
    """Load average of the last minute, when the run began."""
    open_files_limit: int
    """Number of files that a process may open."""
    cgroup_version: int | None
    """Version of control groups, 1 or 2. Null: none."""
    cpu_quota_cores: float | None = None
    """CPU time that the control groups allow, in cores' worth. Null: no limit."""
    memory_limit_bytes: int | None = None
    """Memory that the control groups allow, in bytes. Null: no limit."""
    container: str | None = None
    """Container engine that httpbench runs under. Null: none."""
    git_commit: str | None
    """Commit of the folder that the targets come from; ends with ``+changes`` if it was modified. Null: no repository."""
    httpbench_version: str
    """Version of httpbench."""
    versions: dict[str, str]
    """Version of each toolchain and library that the run used, by name."""
    tuning: dict[str, str] = {}
    """Value of each knob of ``httpbench tune``, by name; those that the machine lacks are left out."""


class RoundTrips(Frozen):
    """Round trips of one byte over TCP from a load host to this machine, before the run, in µs."""

    count: int
    """Number of round trips."""
    min_us: float
    """Minimum, in µs."""
    p50_us: float
    """p50, in µs."""
    max_us: float
    """Maximum, in µs."""

    @property
    def jitter_us(self) -> float:
        """How much slower than the fastest half of them were, at least."""
        return self.p50_us - self.min_us


class LoadHost(Frozen):
    """The machine that runs the load generators of a run, if it is not this one."""

    name: str
    """As ssh knows it, such as ``user@host``."""
    address: str
    """Address of this machine at which the load host reaches targets. They listen on no other."""
    cpus: tuple[int, ...]
    """Logical CPUs that load generators may use there."""
    cores: int
    """Physical cores of these CPUs."""
    backend_cpus: tuple[int, ...] = ()
    """Logical CPUs of the backend of proxies there. Empty: it runs on the target's machine."""
    round_trips: RoundTrips
    """Round trips before the run."""
    environment: Environment
    """The load host and its state. It has no commit, and its versions are those of load generators."""
