"""Usage of CPU time, memory, cores and network by the programs of a run and by other programs."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Sample(Frozen):
    """CPU and memory usage of a process tree at one moment."""

    at_s: float
    """Time of the sample, in seconds since the measurement began. In slices, only the time in windows counts."""
    cpu_cores: float
    """CPU usage since the previous sample, in cores."""
    rss_bytes: int
    """Resident memory summed over all processes, in bytes."""
    processes: int
    """Number of processes."""


class Usage(Frozen):
    """CPU and memory usage of a process tree over the measured period."""

    cpu_s: float
    """CPU time of all processes, including those that have ended, in seconds."""
    cpu_cores_mean: float
    """Mean CPU usage, in cores."""
    cpu_cores_peak: float
    """Highest CPU usage in one sample, in cores."""
    rss_bytes_peak: int
    """Peak resident memory summed over all processes, in bytes. Shared pages count once per process."""
    pss_bytes_peak: int | None = None
    """Peak memory with shared pages split among the processes, in bytes. Null: the kernel does not report it."""
    rss_bytes_mean: float | None = None
    """Mean resident memory summed over all processes, in bytes. Null: stored by an earlier version."""
    pss_bytes_mean: float | None = None
    """Mean memory with shared pages split among the processes, in bytes, sampled about once a second. Null: the kernel does not report it.
    """
    processes_peak: int
    """Highest number of processes."""
    cpu_wait_cores_mean: float | None = None
    """Mean number of threads that were ready to run but waited for a CPU. Null: not measured, the kernel does not report it, or most
    threads ended during the period."""
    threads: int | None = None
    """Number of threads that were observed. Null: not measured, or the kernel does not report them."""
    thread_cores_max: float | None = None
    """Mean CPU usage of the busiest thread, in cores. Null: not measured, or the kernel does not report it."""
    throttled_share: float | None = None
    """Share of CPU quota periods in which the kernel throttled the processes, 0 to 1. Null: no quota, or not measured."""
    throttled_s: float | None = None
    """Time for which the kernel throttled the processes, in seconds, summed over CPUs. Null: no quota, or not in a container."""
    group_bytes_peak: int | None = None
    """Peak memory of the container's control group since its start, including page cache, in bytes. Null: not in a container, or the kernel
    does not report it."""
    oom_kills: int | None = None
    """Number of processes in the container that the kernel killed because memory ran out. Null: not in a container, or the kernel does not
    report it."""
    samples: tuple[Sample, ...] = ()
    """CPU and memory usage over time."""
    throttled_samples_s: tuple[float, ...] = ()
    """Time for which the kernel throttled the processes since the previous sample, for each of ``samples``, in seconds, summed over CPUs.
    In slices, it is reduced to the length of the windows. Empty: no quota, or not in a container."""
    stolen_samples_s: tuple[float, ...] = ()
    """Time that the hypervisor took from the program's CPUs since the previous sample, for each of ``samples``, in seconds, summed over
    CPUs. In slices, it is reduced to the length of the windows. Empty: none, or not measured."""


class CoreOccupancy(Frozen):
    """Usage of one logical CPU, as shares of the measured period."""

    cpu: int
    """Number of the logical CPU."""
    busy: float
    """Share of time in which this CPU ran any process on the machine, excluding interrupts, 0 to 1."""
    interrupts: float = 0.0
    """Share of time in hard and soft interrupts, such as the kernel's network processing, 0 to 1. 0: none, or not stored."""
    stolen: float
    """Share of time that the hypervisor gave to other virtual machines while this machine had work to do, 0 to 1."""


class LinkUse(Frozen):
    """Usage of a network link over the measured period, in the direction with more traffic."""

    name: str
    """Name of the link's network interface."""
    bits_per_s: float
    """Traffic, in bit/s. For a physical link, this includes framing."""
    capacity_bits_per_s: float
    """Capacity, in bit/s: the speed of the link, or the rate limit that the kernel applies to it."""

    @property
    def share(self) -> float:
        """Used share of the link's capacity, 0 to 1."""
        return self.bits_per_s / self.capacity_bits_per_s


class Network(Frozen):
    """Counters of the kernel's network stack over the measured period, for all programs on this machine."""

    segments_sent: int | None = None
    """Number of TCP segments sent. Null: not reported."""
    segments_retransmitted: int | None = None
    """Number of TCP segments retransmitted because they were lost, dropped or acknowledged too late. For example, a receiver that
    shares a busy core with the sender can acknowledge them too late. Null: not reported."""
    retransmission_timeouts: int | None = None
    """Number of TCP retransmission timeouts. A timeout delays its connection much longer than other retransmissions do. Null: not
    reported."""
    delayed_acks: int | None = None
    """Number of acknowledgments that were sent alone and late, because no data followed that could carry them. Null: not reported."""
    listen_overflows: int | None = None
    """Number of connections rejected because the accept queue was full. Null: not reported."""
    listen_drops: int | None = None
    """Number of connections rejected during setup for any reason, including overflows. Null: not reported."""
    backlog_drops: int | None = None
    """Number of packets dropped because a CPU couldn't process them fast enough. Null: not reported."""
    fullest_link: LinkUse | None = None
    """The fullest network link. Null: no link has a known capacity, for example on loopback."""


class LoadHostUse(Frozen):
    """Usage of a load host over the measured period, except the usage of its load generator, which is in ``generator_usage``."""

    name: str
    """Name that ssh uses for the load host."""
    cores: int
    """Number of physical cores that the load generator could use."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Usage of the load generator's logical CPUs by all programs."""
    network: Network | None = None
    """Counters of the load host's network stack. Null: not read."""
    backend_cores: int = 0
    """Number of physical cores on the load host that are reserved for the proxies' backend. 0: the backend runs on the target's
    machine."""


class Stranger(Frozen):
    """A process outside the run that used CPU time during a trial."""

    name: str
    """Name of the process as the kernel reports it, at most 15 characters."""
    pid: int
    """Process id."""
    cores: float
    """Mean CPU usage on all CPUs over the measured period, in cores."""
    cpus: tuple[int, ...] = ()
    """Logical CPUs on which the process's threads last ran, read at the start and the end of the period."""
    cpus_allowed: tuple[int, ...] = ()
    """Logical CPUs that the process may use."""
    is_kernel: bool = False
    """Whether the process is a kernel thread."""
    yields: bool = False
    """Whether the kernel runs the process only while no other program wants its CPU (``SCHED_IDLE``)."""
    is_of_children: bool = False
    """Whether ``cores`` is the CPU usage of child processes that ended within the period, instead of the process's own usage."""


class SharedQuota(Frozen):
    """The CPU quota of a control group that contains httpbench and possibly other programs."""

    throttled_share: float
    """Share of the quota's periods in which the kernel throttled the group, 0 to 1."""
    used_cores: float
    """CPU usage of all programs in the group, in cores."""


STRANGERS_MAX = 16
"""Maximum number of strangers stored with a trial."""


class Others(Frozen):
    """Other programs on the machine during a trial."""

    strangers: tuple[Stranger, ...] = ()
    """Processes that might have run on the measured cores, in descending order of CPU usage; at most sixteen."""
    harness_cores: float = 0.0
    """Mean CPU usage of httpbench itself, in cores."""
    all_visible: bool = True
    """Whether httpbench can see every process on the machine. False in most containers."""
    quota: SharedQuota | None = None
    """CPU quota that httpbench shares with other programs. Null: none, or the kernel does not report it."""
