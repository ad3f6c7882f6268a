"""Check for other activity: busy processes, a hypervisor that takes CPU time, swapping. Watches for a moment."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from httpbench.host.cores.topology import Topology
from httpbench.host.facts.machine import memory_bytes
from httpbench.host.finding import Finding, judged
from httpbench.host.kernel_files import read_text

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
LOAD_PER_CORE = 0.1
BUSY_CORES = 0.1
SHOWN = 3


@dataclass(frozen=True, slots=True)
class _Process:
    name: str
    ticks: int


def findings(root: Path, topology: Topology, pause_s: float) -> Iterator[Finding]:
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
        "wait a minute, or find what runs with `top`",
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
    if len(before) < 8 or len(after) < 8:  # this kernel doesn't report it
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
    used_mb = (memory_bytes(root, "SwapTotal") - memory_bytes(root, "SwapFree")) >> 20
    return judged(
        "swap",
        used_mb == 0,
        f"{used_mb} MB of swap are in use" if used_mb else "no swap is in use",
        "a page that must be read from disk delays a request by milliseconds",
        "swapoff --all, if there is enough memory",
    )


def _processes(root: Path) -> dict[int, _Process]:
    """Return every process with the CPU time that it has used, in ticks."""
    found = {}
    for folder in (root / "proc").iterdir():
        if folder.name.isdigit() and (text := read_text(folder / "stat")):
            name, _, rest = text.partition(" (")[2].rpartition(") ")
            fields = rest.split()
            found[int(folder.name)] = _Process(name, int(fields[11]) + int(fields[12]))
    return found


def _ticks(root: Path) -> list[int]:
    """Return the first line of /proc/stat: ticks of all CPUs together, by kind of use."""
    return [int(word) for word in (read_text(root / "proc/stat") or "cpu").partition("\n")[0].split()[1:]]
