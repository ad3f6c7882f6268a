"""What programs have used of the machine: CPU time, memory, cores, network."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class Sample(Frozen):
    """CPU and memory of a process tree at one moment."""

    at_s: float
    """When, in seconds since the measurement began."""
    cpu_cores: float
    """CPU time since the previous sample, in cores' worth."""
    rss_bytes: int
    """Resident memory, summed over processes, in bytes."""
    processes: int
    """Number of processes."""


class Usage(Frozen):
    """What a process tree cost over the measured period."""

    cpu_s: float
    """CPU time of all its processes, ended ones included, in seconds."""
    cpu_cores_mean: float
    """Mean CPU use, in cores' worth."""
    cpu_cores_peak: float
    """Highest CPU use of a sample, in cores' worth."""
    rss_bytes_peak: int
    """Peak resident memory, summed over processes, in bytes: pages that they share count once for each."""
    pss_bytes_peak: int | None = None
    """Peak memory with shared pages split among the processes, in bytes. Null: the kernel does not report it."""
    rss_bytes_mean: float | None = None
    """Mean resident memory, summed over processes, in bytes. Null: stored by an earlier version."""
    pss_bytes_mean: float | None = None
    """Mean memory with shared pages split among the processes, in bytes, counted about once a second. Null: the kernel does not report
    it."""
    processes_peak: int
    """Highest number of processes."""
    cpu_wait_cores_mean: float | None = None
    """Time in which its threads were ready to run and had no CPU, in cores' worth. Null: not watched, or the kernel does not report it."""
    threads: int | None = None
    """Threads that were seen. Null: not watched, or the kernel does not report them."""
    thread_cores_max: float | None = None
    """Mean CPU use of the thread that used most, in cores' worth. Null: not watched, or the kernel does not report it."""
    throttled_share: float | None = None
    """Share of the periods of a CPU quota in which its control groups were throttled, 0 to 1. Null: no quota, or not watched."""
    throttled_s: float | None = None
    """How long a CPU quota stopped its processes, in seconds, summed over CPUs. Null: no quota, or not in a container."""
    group_bytes_peak: int | None = None
    """Most memory that the container's control group has used since it started, page cache included, in bytes. Null: not in a
    container, or the kernel does not report it."""
    oom_kills: int | None = None
    """Processes of the container that the kernel killed because memory ran out. Null: not in a container, or the kernel does not
    report it."""
    samples: tuple[Sample, ...] = ()
    """CPU and memory over time."""
    throttled_samples_s: tuple[float, ...] = ()
    """For each sample, how long a CPU quota stopped its processes since the previous one, in seconds, summed over CPUs. Empty: no quota,
    or not in a container."""


class CoreOccupancy(Frozen):
    """One logical CPU over the measured period, as shares of that period."""

    cpu: int
    """Number of the logical CPU."""
    busy: float
    """Time of all processes, ours or not, without interrupts: a share, 0 to 1."""
    interrupts: float = 0.0
    """Time in interrupts, hard and soft (network work of the kernel): a share, 0 to 1; 0 in stores that do not have it."""
    stolen: float
    """Time that the hypervisor gave to others although there was work: a share, 0 to 1."""


class Network(Frozen):
    """What the kernel's network stack counted over the measured period, for all programs on this machine."""

    segments_sent: int | None = None
    """TCP segments sent. Null: not reported."""
    segments_retransmitted: int | None = None
    """TCP segments sent again: lost, dropped, or acknowledged too late, as when a busy receiver shares the sender's core. Null:
    not reported."""
    retransmission_timeouts: int | None = None
    """Times that a connection stood still until TCP's timer ended; only these delay one for long. Null: not reported."""
    listen_overflows: int | None = None
    """Connections that a full accept queue turned away. Null: not reported."""
    listen_drops: int | None = None
    """Connections turned away during set-up for any reason, overflows included. Null: not reported."""
    backlog_drops: int | None = None
    """Packets that a CPU dropped because it did not keep up with the network. Null: not reported."""


class LoadHostUse(Frozen):
    """What was seen of a load host over the measured period. CPU and memory of the load generator itself are ``generator_usage``."""

    name: str
    """The load host, as ssh knows it."""
    cores: int
    """Physical cores that the load generator could use."""
    occupancy: tuple[CoreOccupancy, ...] = ()
    """Use of the logical CPUs that the load generator could use, by all programs."""
    network: Network | None = None
    """Counters of the load host's network stack. Null: not read."""
    backend_cores: int = 0
    """Physical cores of the backend of proxies there, which the load generator does not use. 0: it runs on the target's machine."""
