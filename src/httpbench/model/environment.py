"""The machines that take part in a run, and their properties."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Environment(Frozen):
    """The properties of a machine that determine whether two runs are comparable."""

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
    """Frequency governor, or several governors separated by commas if CPUs differ. Null: none."""
    turbo: bool | None
    """Whether cores can exceed their nominal frequency. Null: not controlled by the kernel."""
    mitigations: dict[str, str]
    """State of each known CPU vulnerability, by its name in ``/sys``."""
    memory_bytes: int
    """Physical memory, in bytes."""
    kernel: str
    """Kernel release."""
    os: str
    """Name and version of the operating system."""
    virtualization: str | None
    """Name of the hypervisor. Null: bare metal."""
    load_average_1m: float
    """Load average over one minute at the start of the run."""
    open_files_limit: int
    """Maximum number of open files per process."""
    cgroup_version: int | None
    """Version of control groups, 1 or 2. Null: none."""
    cpu_quota_cores: float | None = None
    """CPU time that the control groups allow, in cores. Null: no limit."""
    memory_limit_bytes: int | None = None
    """Memory that the control groups allow, in bytes. Null: no limit."""
    container: str | None = None
    """Container engine that runs httpbench. Null: httpbench doesn't run in a container."""
    git_commit: str | None
    """Git commit of the folder that contains the targets, followed by ``+changes`` if the folder has uncommitted changes. Null: not in a
    repository."""
    httpbench_version: str
    """Version of httpbench."""
    versions: dict[str, str]
    """Version of each toolchain and library that the run used, by name."""
    tuning: dict[str, str] = {}
    """Value of each ``httpbench tune`` setting, by name. Settings that the machine lacks are omitted."""


class RoundTrips(Frozen):
    """The times of round trips from a load host to this machine, measured before the run with one byte over TCP."""

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
        """Jitter of the round trips, in µs: p50 minus minimum."""
        return self.p50_us - self.min_us


class LoadHost(Frozen):
    """Another machine that runs load generators."""

    name: str
    """Name for ssh, such as ``user@host``."""
    address: str
    """Address at which the load host connects to this machine. Targets listen only on this address."""
    cpus: tuple[int, ...]
    """Logical CPUs that load generators may use on the load host."""
    cores: int
    """Number of physical cores of ``cpus``."""
    backend_cpus: tuple[int, ...] = ()
    """Logical CPUs of the proxies' backend on the load host. Empty: the backend runs on the target's machine."""
    round_trips: RoundTrips
    """Round trips before the run."""
    environment: Environment
    """Properties of the load host. ``git_commit`` is null, and ``versions`` contains only load generators."""
