"""Check this machine for anything that can disturb a measurement, and suggest fixes.

The checks change nothing. They spend most of their time watching other processes.
"""

from __future__ import annotations

import ctypes
import errno
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from httpbench.host import open_files
from httpbench.host.control_groups import groups_of
from httpbench.host.cores.partition import CORES_TO_DIVIDE
from httpbench.host.cores.topology import Topology, read_topology
from httpbench.host.facts import environment
from httpbench.host.finding import Finding, Severity, judged, worst_first
from httpbench.host.kernel_files import cpu_text, read_int, read_text
from httpbench.host.knobs import all_knobs
from httpbench.model import Scaling

PAUSE_S = 0.3
COSTLY = ("spectre_v2", "meltdown", "mds", "retbleed", "spec_rstack_overflow", "spec_store_bypass", "l1tf", "tsx_async_abort")
"""Vulnerabilities whose mitigations make each system call slower."""

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LOAD_PER_CORE = 0.1
BUSY_CORES = 0.1
SHOWN = 3

ENOUGH_FILES = 10_000
ENOUGH_MEMORY_BYTES = 1 << 30
MEBIBYTE = 1 << 20
CLOSED_SHARE_MAX = 0.25
"""Maximum share of the local ports that may be in TIME_WAIT before a run."""
IO_URING_SETUP = 425
"""Number of the system call ``io_uring_setup``, which is the same on all architectures except Alpha."""


def examine(topology: Topology | None = None, root: Path = Path("/"), pause_s: float = PAUSE_S) -> list[Finding]:
    """Return all findings, worst first. A feature that this machine lacks, such as a governor, has no finding."""
    cores = read_topology(root) if topology is None else topology
    return worst_first(
        (
            siblings(root, cores),
            _cores(cores),
            cpu_quota(root, cores),
            virtual_machine(root),
            *mitigations(root),
            *_activity(root, cores, pause_s),
            _open_files(root),
            _memory(root),
            *_io_uring(root),
            *free_ports(root),
            *all_knobs.findings(root),
        )
    )


def siblings(root: Path, topology: Topology) -> Finding:
    strangers = tuple(sorted(cpu for core in topology.cores for cpu in core.siblings if cpu not in core.cpus))
    why = "two threads on SMT siblings slow each other by a third or more"
    if strangers:
        what = f"other programs may use CPUs {cpu_text(strangers)}, the SMT siblings of httpbench's own"
        do = "give httpbench whole physical cores: an affinity (or cpuset) with all siblings of a core or none"
        return Finding("siblings", "warning", what, why, do)
    if environment.smt(root):
        why = f"{why}; httpbench keeps siblings together, but a target with one worker per logical CPU still uses both"
        return Finding("siblings", "note", "SMT is on", why, "echo off > /sys/devices/system/cpu/smt/control")
    return Finding("siblings", "ok", "no core is shared by SMT siblings", why)


def _cores(topology: Topology) -> Finding:
    count = len(topology.cores)
    why = "a load generator on the target's cores takes CPU time from the target"
    what = f"httpbench may use {count} physical core{'' if count == 1 else 's'}"
    if count < CORES_TO_DIVIDE[Scaling.SINGLE]:
        return Finding("cores", "warning", what, why, "measure on a machine with at least 2 cores; 4 for multi and prefork")
    if count < CORES_TO_DIVIDE[Scaling.MULTI]:
        shared = f"{what}; with multi or prefork, the target shares them with the load generator"
        return Finding("cores", "warning", shared, why, "measure with --scaling single")
    return Finding("cores", "ok", what, why)


def cpu_quota(root: Path, topology: Topology) -> Finding:
    groups = groups_of(root=root)
    quota = groups.cpus() if groups else None
    if quota is None:
        return Finding("cpu-quota", "ok", "no control group limits CPU time", "a limit stops everything in the middle of a measurement")
    return Finding(
        "cpu-quota",
        "warning" if quota < len(topology.cpus) else "note",
        f"a control group limits CPU time to {quota:g} cores, on {len(topology.cpus)} CPUs",
        "when it is used up, the target and the load generator stop until the next period (usually 100 ms), which adds tail latency",
        "start the container with --cpuset-cpus instead of --cpus, or the unit without CPUQuota=",
    )


def virtual_machine(root: Path) -> Finding:
    hypervisor = environment.virtualization(root)
    what = f"this is a virtual machine ({hypervisor})" if hypervisor else "no hypervisor was found"
    why = "the host may run other machines on the same cores, and each exit to the hypervisor costs microseconds"
    return judged("virtual-machine", not hypervisor, what, why, "compare only within one run, or measure on a physical machine", "note")


def mitigations(root: Path) -> Iterator[Finding]:
    active = [name for name, state in environment.mitigations(root).items() if name in COSTLY and state.startswith("Mitigation")]
    if active:
        yield Finding(
            "mitigations",
            "note",
            f"mitigations are active: {', '.join(active)}",
            "each system call costs more, so targets that make many look worse here than elsewhere",
            "leave them on if production has them on; compare only with runs that have the same mitigations",
        )


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    ticks: int


def _activity(root: Path, topology: Topology, pause_s: float) -> Iterator[Finding]:
    before, steal_before, begin = _processes(root), _ticks(root), time.monotonic()
    time.sleep(pause_s)
    after, steal_after, elapsed_s = _processes(root), _ticks(root), time.monotonic() - begin
    yield _load(root, topology)
    yield _busy(before, after, elapsed_s)
    yield from _steal(steal_before, steal_after)
    yield _swap(root)


def _load(root: Path, topology: Topology) -> Finding:
    load = float((read_text(root / "proc/loadavg") or "0").split()[0])
    limit = LOAD_PER_CORE * len(topology.cpus)
    return judged(
        "load-average",
        load <= limit,
        f"the load average of the last minute is {load:g}; up to {limit:g} is quiet",
        "other programs used the CPUs, including anything that you ran a moment ago",
        "wait a minute, or use `top` to find the busy programs",
    )


def _busy(before: dict[int, _Process], after: dict[int, _Process], elapsed_s: float) -> Finding:
    cores = {
        pid: (process.ticks - before[pid].ticks) / TICKS_PER_S / elapsed_s
        for pid, process in after.items()
        if pid in before and before[pid].name == process.name and pid != os.getpid()
    }
    busiest = sorted((pid for pid in cores if cores[pid] >= BUSY_CORES), key=lambda pid: -cores[pid])
    why = "it takes CPU time and cache from the target and the load generator, more in some trials than in others"
    if not busiest:
        return Finding("busy-processes", "ok", "no other process is busy", why)
    named = ", ".join(f"{after[pid].name} (pid {pid}, {cores[pid]:.0%} of a core)" for pid in busiest[:SHOWN])
    more = f" and {len(busiest) - SHOWN} more" if len(busiest) > SHOWN else ""
    return Finding("busy-processes", "warning", f"{named}{more}", why, "stop it, or wait until it ends")


def _steal(before: list[int], after: list[int]) -> Iterator[Finding]:
    if len(before) < 8 or len(after) < 8:  # this kernel doesn't report steal
        return
    stolen, total = after[7] - before[7], sum(after[:8]) - sum(before[:8])
    yield judged(
        "steal",
        stolen <= 0,
        f"the hypervisor took {stolen / max(total, 1):.1%} of this machine's CPU time" if stolen > 0 else "the hypervisor took no CPU time",
        "while the host runs another virtual machine on a core, this one can't serve requests",
        "use an instance with dedicated cores, or measure at another time; more rounds show how much it matters",
    )


def _swap(root: Path) -> Finding:
    used_mb = (environment.memory_bytes(root, "SwapTotal") - environment.memory_bytes(root, "SwapFree")) >> 20
    return judged(
        "swap",
        used_mb == 0,
        f"{used_mb} MB of swap are in use" if used_mb else "no swap is in use",
        "a page that must be read from disk delays a request by milliseconds",
        "swapoff --all, if there is enough memory",
    )


def _processes(root: Path) -> dict[int, _Process]:
    """Return all processes by id, with the CPU time that each has used, in ticks."""
    found = {}
    for folder in (root / "proc").iterdir():
        if folder.name.isdigit() and (text := read_text(folder / "stat")):
            name, _, rest = text.partition(" (")[2].rpartition(") ")
            fields = rest.split()
            found[int(folder.name)] = _Process(name, int(fields[11]) + int(fields[12]))
    return found


def _ticks(root: Path) -> list[int]:
    """Return the numbers in the first line of /proc/stat: ticks of all CPUs together, by kind of use."""
    return [int(word) for word in (read_text(root / "proc/stat") or "cpu").partition("\n")[0].split()[1:]]


def _open_files(root: Path) -> Finding:
    limit = open_files.hard_limit(root)
    return judged(
        "open-files",
        limit >= ENOUGH_FILES,
        f"a process may open {limit} files",
        "each connection is an open file on each side, and a target that runs out of them refuses connections",
        "ulimit -Hn 65536 as root, LimitNOFILE=65536 in the unit, or --ulimit nofile=65536 for the container",
    )


def _memory(root: Path) -> Finding:
    groups, total = groups_of(root=root), environment.memory_bytes(root)
    limit = groups.memory_bytes() if groups else None
    why = "a target at the limit slows down and is then killed"
    if limit is None or limit >= total > 0:
        return Finding("memory-limit", "ok", "no control group limits memory", why)
    what = f"a control group allows {limit // MEBIBYTE} MiB of memory"
    severity: Severity = "note" if limit >= ENOUGH_MEMORY_BYTES else "warning"
    return Finding("memory-limit", severity, what, why, "start the container without --memory, or with more")


def _io_uring(root: Path) -> Iterator[Finding]:
    disabled = read_int(root / "proc/sys/kernel/io_uring_disabled")
    why = "targets that use io_uring cannot start, or fall back to something slower"
    if disabled is None:
        return  # kernels before Linux 6.6 have no switch
    said = {0: "allowed", 1: "allowed to root and one group only", 2: "disabled"}.get(disabled, "restricted")
    if disabled == 0 and root == Path("/") and _is_refused():
        do = "start the container with --security-opt seccomp=unconfined, or with the profile in docs/containers.md"
        yield Finding("io-uring", "note", "a seccomp filter refuses io_uring", why, do)
        return
    yield judged("io-uring", disabled == 0, f"io_uring is {said}", why, "sysctl -w kernel.io_uring_disabled=0", "note")


def _is_refused() -> bool:
    """Return whether something other than the kernel's switch refuses io_uring.

    The call passes no valid arguments, so it also fails if io_uring is allowed, but with a different error.
    """
    library = ctypes.CDLL(None, use_errno=True)
    return library.syscall(IO_URING_SETUP, 0, None) == -1 and ctypes.get_errno() in (errno.EPERM, errno.EACCES)


def free_ports(root: Path) -> Iterator[Finding]:
    """Yield a finding on the free ports in the network namespace of this process."""
    sockets, ports = read_text(root / "proc/net/sockstat") or "", (read_text(root / "proc/sys/net/ipv4/ip_local_port_range") or "").split()
    waiting = re.search(r"^TCP:.* tw (\d+)", sockets, re.MULTILINE)
    if waiting is None or len(ports) != 2:
        return
    count, total = int(waiting[1]), int(ports[1]) - int(ports[0]) + 1
    yield judged(
        "time-wait",
        count <= CLOSED_SHARE_MAX * total,
        f"{count:,} of {total:,} local ports are held by closed connections (TIME_WAIT)",
        "each new connection requires a free port",
        "wait a minute, or allow more ports: sysctl -w net.ipv4.ip_local_port_range='16384 65535'",
    )
