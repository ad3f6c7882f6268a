"""The environment of a run: facts about the machine that must match before two runs can be compared.

All facts about the hardware, real or virtual, come from files rather than from programs. Reading them takes a few milliseconds and works in
a minimal container. The drawback is that a hypervisor goes undetected if it hides itself (no CPU flag, no firmware name, no clock source).
"""

from __future__ import annotations

import platform
import re
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path

from httpbench import __version__
from httpbench.host import open_files
from httpbench.host.control_groups import groups_of
from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.facts.git import git_commit
from httpbench.host.kernel_files import CLOCKSOURCE, CPU, cpu_list, read_int, read_text
from httpbench.host.knobs.all_knobs import tuned
from httpbench.model import Environment

DMI = Path("sys/class/dmi/id")
HYPERVISORS = {  # parts of firmware names
    "amazon ec2": "amazon",
    "google": "google",
    "kvm": "kvm",
    "qemu": "qemu",
    "openstack": "openstack",
    "vmware": "vmware",
    "virtualbox": "virtualbox",
    "virtual machine": "hyperv",
    "parallels": "parallels",
    "xen": "xen",
    "bhyve": "bhyve",
}

STATISTICS = ("numpy", "scipy")
"""Libraries that compute the statistics."""


def read_environment(folder: Path, versions: Mapping[str, str], root: Path = Path("/"), topology: Topology | None = None) -> Environment:
    """Return the current environment.

    ``folder`` contains the targets. ``versions`` contains the versions of their toolchains and libraries, to which this function adds the
    versions of our own libraries. If the caller passes a ``topology``, this function doesn't read it again.
    """
    cpus = (topology or read_topology(root)).cpus
    groups = groups_of(root=root)
    return Environment(
        hostname=read_text(root / "proc/sys/kernel/hostname") or "localhost",
        cpu_model=cpu_model(root),
        cpus_online=len(cpu_list(read_text(root / CPU / "online") or "")) or len(cpus),
        cpus_allowed=cpus,
        smt=smt(root),
        governor=governor(root, cpus),
        turbo=turbo(root),
        mitigations=mitigations(root),
        memory_bytes=memory_bytes(root),
        kernel=read_text(root / "proc/sys/kernel/osrelease") or "unknown",
        os=_system(root),
        virtualization=virtualization(root),
        container=container(root),
        load_average_1m=float((read_text(root / "proc/loadavg") or "0").split()[0]),
        open_files_limit=open_files.hard_limit(root),
        cgroup_version=groups.version if groups else None,
        cpu_quota_cores=groups.cpus() if groups else None,
        memory_limit_bytes=groups.memory_bytes() if groups else None,
        git_commit=git_commit(folder),
        httpbench_version=__version__,
        versions={**{name: version(name) for name in STATISTICS}, **versions},
        tuning=tuned(root),
    )


def _system(root: Path) -> str:
    found = re.search(r"^PRETTY_NAME=(.*)$", read_text(root / "etc/os-release") or "", re.MULTILINE)
    return found[1].strip("\"'") if found else "unknown"


def cpu_model(root: Path) -> str:
    """Return the processor's name. If it is unknown, return the board's name or the architecture."""
    if name := _cpu_fact(root, "model name"):
        return name
    parts = [part for key in ("CPU implementer", "CPU part") if (part := _cpu_fact(root, key))]
    board = (read_text(root / "proc/device-tree/model") or "").rstrip("\0")
    return " ".join([board or platform.machine(), *parts])


def governor(root: Path, cpus: tuple[int, ...]) -> str | None:
    """Return the frequency governors of these logical CPUs, joined by commas if they differ, or ``None`` if the kernel reports none."""
    found = {read_text(root / CPU / f"cpu{cpu}/cpufreq/scaling_governor") for cpu in cpus} - {None}
    return ",".join(sorted(filter(None, found))) or None


def turbo(root: Path) -> bool | None:
    """Return whether cores may exceed their nominal frequency, or ``None`` if the kernel doesn't control it."""
    if (off := read_int(root / CPU / "intel_pstate/no_turbo")) is not None:
        return off == 0
    boost = read_int(root / CPU / "cpufreq/boost")
    return None if boost is None else boost == 1


def smt(root: Path) -> bool | None:
    active = read_int(root / CPU / "smt/active")
    return None if active is None else active == 1


def mitigations(root: Path) -> dict[str, str]:
    """Return the state of each known vulnerability of the processor, by its name in /sys."""
    files = sorted((root / CPU / "vulnerabilities").glob("*"))
    return {file.name: text for file in files if (text := read_text(file))}


def memory_bytes(root: Path, kind: str = "MemTotal") -> int:
    """Return a value from /proc/meminfo in bytes, or 0 if it is missing."""
    match = re.search(rf"^{kind}:\s*(\d+) kB$", read_text(root / "proc/meminfo") or "", re.MULTILINE)
    return int(match[1]) * 1024 if match else 0


def virtualization(root: Path) -> str | None:
    """Return the hypervisor's name, ``hypervisor`` if the name is unknown, or ``None`` on bare metal."""
    if kind := read_text(root / "sys/hypervisor/type"):
        return kind
    names = " ".join(filter(None, (read_text(root / DMI / file) for file in ("sys_vendor", "product_name", "bios_vendor")))).lower()
    flags = _cpu_fact(root, "flags")  # missing on architectures other than x86
    flagged = flags is not None and "hypervisor" in flags.split()
    if (flagged or flags is None) and "metal" not in names:
        for mark, name in HYPERVISORS.items():
            if mark in names:
                return name
    clocks = read_text(root / CLOCKSOURCE / "available_clocksource") or ""
    for name in ("kvm", "hyperv", "xen"):
        if name in clocks:
            return name
    return "hypervisor" if flagged or (root / "proc/device-tree/hypervisor").exists() else None


def container(root: Path) -> str | None:
    """Return the container engine that runs this process, or ``None`` outside a container."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    return read_text(root / "run/systemd/container")


def _cpu_fact(root: Path, name: str) -> str | None:
    """Return the first value with this name in /proc/cpuinfo, or ``None`` if there is none."""
    match = re.search(rf"^{name}[ \t]*:(.*)$", read_text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return match[1].strip() if match else None
