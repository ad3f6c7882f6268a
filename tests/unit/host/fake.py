"""A fake machine: a folder that replaces ``/``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

CPU = "sys/devices/system/cpu"
CGROUP_2 = {"proc/self/mountinfo": "25 1 0:22 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"}
CGROUP_1 = {
    "proc/self/mountinfo": "30 1 0:30 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct\n"
    "31 1 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory"
}


def write(root: Path, files: Mapping[str, str]) -> Path:
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    return root


def cores(root: Path, *groups: str, nodes: Sequence[str] = (), capacities: Sequence[int] = ()) -> Path:
    """Create one physical core for each group of logical CPUs, given in the kernel's list format."""
    for number, group in enumerate(groups):
        for cpu in group.split(","):
            write(root, {f"{CPU}/cpu{cpu}/topology/core_cpus_list": group})
            if capacities:
                write(root, {f"{CPU}/cpu{cpu}/cpu_capacity": str(capacities[number])})
    for number, node in enumerate(nodes):
        write(root, {f"sys/devices/system/node/node{number}/cpulist": node})
    return root


QUIET = {
    "proc/loadavg": "0.01 0.02 0.03 1/100 4242",
    "proc/stat": "cpu  100 0 50 9000 10 0 5 0 0 0\ncpu0 100 0 50 9000 10 0 5 0 0 0",
    "proc/meminfo": "MemTotal:       16384 kB\nSwapTotal:       2048000 kB\nSwapFree:        2048000 kB",
    "proc/cpuinfo": "model name\t: Some Processor 9000\nflags\t\t: fpu tsc",
    "proc/sys/fs/nr_open": "1048576",
    "proc/sys/net/ipv4/ip_local_port_range": "1024\t65535",
    "proc/sys/net/ipv4/tcp_tw_reuse": "2",
    "proc/sys/net/ipv4/tcp_max_syn_backlog": "4096",
    "proc/sys/net/core/somaxconn": "4096",
    "proc/sys/net/core/netdev_max_backlog": "16384",
    "proc/sys/net/netfilter/nf_conntrack_max": "262144",
    "proc/sys/kernel/nmi_watchdog": "0",
    "proc/sys/kernel/numa_balancing": "0",
    "proc/sys/kernel/random/boot_id": "first",
    "proc/sys/kernel/io_uring_disabled": "0",
    "proc/sys/kernel/hostname": "quiet",
    "proc/sys/kernel/osrelease": "6.9.0",
    "proc/self/cgroup": "0::/user.slice/ours",
    "etc/os-release": 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"',
    **CGROUP_2,
    "sys/fs/cgroup/user.slice/cpu.max": "max 100000",
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "sys/devices/system/clocksource/clocksource0/current_clocksource": "tsc",
    "sys/devices/system/clocksource/clocksource0/available_clocksource": "tsc hpet acpi_pm",
    f"{CPU}/online": "0-3",
    f"{CPU}/smt/active": "0",
    f"{CPU}/intel_pstate/no_turbo": "1",
    f"{CPU}/vulnerabilities/spectre_v2": "Not affected",
    **{f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "performance" for cpu in range(4)},
    f"{CPU}/cpu3/cpuidle/state1/latency": "2",
    f"{CPU}/cpu3/cpuidle/state1/disable": "0",
    f"{CPU}/cpu3/cpuidle/state2/latency": "133",
    f"{CPU}/cpu3/cpuidle/state2/disable": "1",
    f"{CPU}/cpuidle/current_governor": "haltpoll",
    "sys/module/haltpoll/parameters/guest_halt_poll_ns": "10000000",
}
"""Files of a machine with four cores and no disturbances."""

DISTURBED = {
    "governor": {f"{CPU}/cpu{cpu}/cpufreq/scaling_governor": "schedutil" for cpu in range(4)},
    "turbo": {f"{CPU}/intel_pstate/no_turbo": "0"},
    "idle-states": {f"{CPU}/cpu3/cpuidle/state2/disable": "0"},
    "halt-polling": {"sys/module/haltpoll/parameters/guest_halt_poll_ns": "0"},
    "clocksource": {"sys/devices/system/clocksource/clocksource0/current_clocksource": "hpet"},
    "nmi-watchdog": {"proc/sys/kernel/nmi_watchdog": "1"},
    "numa-balancing": {"proc/sys/kernel/numa_balancing": "1"},
    "huge-pages": {"sys/kernel/mm/transparent_hugepage/enabled": "always"},
    "backlog": {"proc/sys/net/core/somaxconn": "128", "proc/sys/net/ipv4/tcp_max_syn_backlog": "512"},
    "packet-queue": {"proc/sys/net/core/netdev_max_backlog": "1000"},
    "ephemeral-ports": {"proc/sys/net/ipv4/ip_local_port_range": "60000\t60999"},
    "closed-connections": {"proc/sys/net/ipv4/tcp_tw_reuse": "0"},
    "tracked-connections": {"proc/sys/net/netfilter/nf_conntrack_max": "65536"},
}
"""For each knob, the files of a machine on which the knob doesn't have its recommended value."""


def quiet(root: Path) -> Path:
    return write(cores(root, "0", "1", "2", "3"), QUIET)
