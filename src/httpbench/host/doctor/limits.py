"""Check limits that no knob sets: open files, memory, io_uring, ports."""

from __future__ import annotations

import ctypes
import errno
import re
from collections.abc import Iterator
from pathlib import Path

from httpbench.host import open_files
from httpbench.host.control_groups import groups_of
from httpbench.host.facts.machine import memory_bytes
from httpbench.host.finding import Finding, Severity, judged
from httpbench.host.kernel_files import read_int, read_text

ENOUGH_FILES = 10_000
ENOUGH_MEMORY_BYTES = 1 << 30
MEBIBYTE = 1 << 20
CLOSED_SHARE_MAX = 0.25
"""Maximum share of the local ports in TIME_WAIT before a run."""
IO_URING_SETUP = 425
"""The number of this system call, the same on all architectures except Alpha."""


def findings(root: Path) -> Iterator[Finding]:
    yield _open_files(root)
    yield _memory(root)
    yield from _io_uring(root)
    yield from free_ports(root)


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
    groups, total = groups_of(root=root), memory_bytes(root)
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
    """Return whether something other than the switch refuses io_uring.

    The call has no arguments. If io_uring is allowed, it therefore fails with a different error.
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
