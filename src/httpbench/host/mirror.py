"""Copy another host's kernel files to a folder that the functions of this package can use as their root."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

LIMITS = ("cpu.max", "memory.max", "cpu.cfs_quota_us", "cpu.cfs_period_us", "memory.limit_in_bytes")
"""Names of the files that contain limits, in both versions of control groups."""

FILES = (
    *(f"/proc/{name}" for name in ("cpuinfo", "meminfo", "loadavg", "device-tree/model", "net/sockstat", "self/cgroup", "self/mountinfo")),
    *(f"/proc/sys/kernel/{name}" for name in ("hostname", "osrelease", "io_uring_disabled", "nmi_watchdog", "numa_balancing")),
    *("/proc/sys/fs/nr_open", "/proc/sys/net/core/*", "/proc/sys/net/ipv4/ip_local_port_range", "/proc/sys/net/ipv4/tcp_*"),
    "/proc/sys/net/netfilter/nf_conntrack_max",
    *(f"/sys/devices/system/cpu/{name}" for name in ("online", "smt/active", "intel_pstate/no_turbo", "cpufreq/boost")),
    *(f"/sys/devices/system/cpu/{name}" for name in ("vulnerabilities/*", "cpuidle/current_governor", "cpu[0-9]*/cpu_capacity")),
    *(f"/sys/devices/system/cpu/cpu[0-9]*/{name}" for name in ("topology/*_list", "cpufreq/scaling_governor", "cpuidle/state[0-9]*/*")),
    *("/sys/devices/system/node/node[0-9]*/cpulist", "/sys/devices/system/clocksource/clocksource0/*_clocksource"),
    *(f"/sys/class/dmi/id/{name}" for name in ("sys_vendor", "product_name", "bios_vendor")),
    *("/sys/class/net/*/mtu", "/sys/class/net/*/speed", "/sys/hypervisor/type"),
    *("/sys/kernel/mm/transparent_hugepage/enabled", "/sys/module/haltpoll/parameters/guest_halt_poll_ns"),
    *(f"/sys/fs/cgroup/{below}{name}" for below in ("", "*/", "*/*/", "*/*/*/") for name in LIMITS),
    *("/etc/os-release", "/.dockerenv", "/run/.containerenv", "/run/systemd/container"),
)
"""Patterns of the files that :mod:`httpbench.host` reads."""


def mirrored(files: Mapping[str, str], folder: Path) -> Path:
    """Write another host's files below an empty folder and return it as the new root.

    The other host chooses the paths, so paths that lead out of the folder are skipped.
    """
    for name, text in files.items():
        path = folder / name.lstrip("/")
        if ".." in path.parts:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder
