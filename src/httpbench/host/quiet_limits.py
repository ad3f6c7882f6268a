"""Are the kernel's limits and switches wide enough for many connections: files, ports, memory, io_uring, huge pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from httpbench.host.cgroup import read_limits
from httpbench.host.environment import open_files_limit
from httpbench.host.files import read_int, read_text
from httpbench.host.finding import Finding, judged
from httpbench.host.machine import memory_bytes

NETWORK = Path("proc/sys/net/ipv4")
ENOUGH_FILES = 10_000
ENOUGH_PORTS = 20_000
ENOUGH_BACKLOG = 1024
ENOUGH_MEMORY_BYTES = 1 << 30
MEBIBYTE = 1 << 20


def findings(root: Path) -> Iterator[Finding]:
    yield _open_files(root)
    yield from _ports(root)
    yield from _closed_connections(root)
    yield from _backlog(root)
    yield _memory(root)
    yield from _io_uring(root)
    yield from _huge_pages(root)


def _open_files(root: Path) -> Finding:
    limit = open_files_limit(root)
    return judged(
        "open-files",
        limit >= ENOUGH_FILES,
        f"a process may open {limit} files",
        "each connection is an open file on both sides, and a target that runs out refuses connections",
        "ulimit -Hn 65536 as root, or LimitNOFILE= of the unit, or --ulimit nofile=65536 of the container",
    )


def _ports(root: Path) -> Iterator[Finding]:
    words = (read_text(root / NETWORK / "ip_local_port_range") or "").split()
    if len(words) == 2:
        count = int(words[1]) - int(words[0]) + 1
        yield judged(
            "ephemeral-ports",
            count >= ENOUGH_PORTS,
            f"{count} ports are there for outgoing connections ({words[0]}–{words[1]})",
            "each connection to one target takes one, and keeps it for a minute after it was closed",
            'sysctl -w net.ipv4.ip_local_port_range="1024 65535"',
        )


def _closed_connections(root: Path) -> Iterator[Finding]:
    reuse = read_int(root / NETWORK / "tcp_tw_reuse")
    if reuse is not None:
        yield judged(
            "closed-connections",
            reuse != 0,
            f"net.ipv4.tcp_tw_reuse is {reuse}: ports of closed connections are{'' if reuse else ' not'} used again early",
            "without keep-alive a run uses up the ephemeral ports within seconds, and then measures that",
            "sysctl -w net.ipv4.tcp_tw_reuse=2",
            "note",
        )


def _backlog(root: Path) -> Iterator[Finding]:
    backlog = read_int(root / "proc/sys/net/core/somaxconn")
    if backlog is not None:
        yield judged(
            "backlog",
            backlog >= ENOUGH_BACKLOG,
            f"{backlog} connections may wait to be accepted (net.core.somaxconn)",
            "when many connect at once, those beyond are dropped and try again a second later",
            f"sysctl -w net.core.somaxconn={4 * ENOUGH_BACKLOG}",
        )


def _memory(root: Path) -> Finding:
    limit, total = read_limits(root).memory_bytes, memory_bytes(root)
    why = "a target that reaches the limit is slowed by reclaim, then killed"
    if limit is None or limit >= total > 0:
        return Finding("memory-limit", "ok", "no control group limits memory", why)
    return Finding(
        "memory-limit",
        "note" if limit >= ENOUGH_MEMORY_BYTES else "warning",
        f"a control group allows {limit // MEBIBYTE} MiB of memory",
        why,
        "start the container without --memory, or with more",
    )


def _io_uring(root: Path) -> Iterator[Finding]:
    disabled = read_int(root / "proc/sys/kernel/io_uring_disabled")
    why = "targets and generators that use io_uring cannot start, or fall back to something slower"
    if disabled is None:
        return  # before Linux 6.6 there is no switch
    said = {0: "allowed", 1: "allowed to root and one group only", 2: "disabled"}.get(disabled, "restricted")
    yield judged("io-uring", disabled == 0, f"io_uring is {said}", why, "sysctl -w kernel.io_uring_disabled=0", "note")


def _huge_pages(root: Path) -> Iterator[Finding]:
    match = re.search(r"\[(\w+)\]", read_text(root / "sys/kernel/mm/transparent_hugepage/enabled") or "")
    if match:
        yield judged(
            "huge-pages",
            match[1] != "always",
            f"transparent huge pages: {match[1]}",
            "with «always» memory figures grow in steps of 2 MB, and compaction can stop a target for milliseconds",
            "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled",
            "note",
        )
