"""The hardware, real or virtual: CPU model, clock policy, mitigations, virtual machine, container.

All facts come from files. No program is run, so this takes a few milliseconds and works in a bare container. The drawback: a hypervisor
that hides itself (no CPU flag, no firmware name, no clock source) goes undetected.
"""

from __future__ import annotations

import platform
import re
from pathlib import Path

from httpbench.host.kernel_files import CLOCKSOURCE, CPU, read_int, read_text

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


def cpu_model(root: Path) -> str:
    """Return the processor's name, or the board's name or the architecture if it is unknown."""
    if name := _cpu_fact(root, "model name"):
        return name
    parts = [part for key in ("CPU implementer", "CPU part") if (part := _cpu_fact(root, key))]
    board = (read_text(root / "proc/device-tree/model") or "").rstrip("\0")
    return " ".join([board or platform.machine(), *parts])


def governor(root: Path, cpus: tuple[int, ...]) -> str | None:
    """Return the frequency governors of these logical CPUs, joined by commas if they differ, or ``None`` if there is no choice."""
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
    """Return a value from /proc/meminfo, or 0 if it is missing."""
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
    """Return the container engine that we run in, or ``None`` outside a container."""
    if (root / ".dockerenv").exists():
        return "docker"
    if (root / "run/.containerenv").exists():
        return "podman"
    return read_text(root / "run/systemd/container")


def _cpu_fact(root: Path, name: str) -> str | None:
    """Return the first value with this name in /proc/cpuinfo, or ``None`` if there is none."""
    match = re.search(rf"^{name}[ \t]*:(.*)$", read_text(root / "proc/cpuinfo") or "", re.MULTILINE)
    return match[1].strip() if match else None
