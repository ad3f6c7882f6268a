"""Find other programs that used CPU time during a period, to report what disturbed a trial.

The meter reads ``/proc/PID/stat`` of every process at the beginning and the end of the period. :mod:`httpbench.sample.occupancy` measures
exactly how much of the measured cores other programs used; this module finds out which programs they were. A process is ours if it descends
from the harness. If a process began and ended within the period, only the time that was added to its parent's counters is known.

The kernel doesn't report on which CPUs a process ran. It reports only the CPUs that the process may use, and the last CPU of each of its
threads. Processes that can't have run on the watched CPUs are left out. Reading takes about 10 µs for each process on the machine at the
beginning of the period and 20 µs at its end.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from httpbench.model import STRANGERS_MAX, Others, Stranger
from httpbench.sample.tree import TICKS_PER_S, content, numbers

PROC = "/proc"
USED_TICKS_MIN = 2
"""Minimum number of ticks for a process to be reported. The kernel can charge a whole tick to a process that ran for a small
fraction of a tick."""
THREADS_MAX = 64
"""Maximum number of threads per process for which the last CPU is read."""
OWN_GENERATIONS = 2
"""Number of generations of processes below the harness that count as part of the harness: its keepers and their guards. Later generations
are the programs of the run, which the guards start."""
KERNEL_THREAD = 0x00200000
"""The bit ``PF_KTHREAD`` in the flags of a process."""


@dataclass(frozen=True, slots=True)
class _Process:
    """Fields of proc_pid_stat(5)."""

    pid: int
    name: str
    parent: int
    is_kernel: bool
    own_ticks: int
    reaped_ticks: int
    threads: int
    start_ticks: int
    cpu: int
    policy: int

    @classmethod
    def of(cls, pid: int, stat: bytes) -> _Process:
        end = stat.rindex(b")")  # the name may itself contain parentheses
        fields = stat[end + 2 :].split(None, 38)
        name = stat[stat.index(b"(") + 1 : end].decode(errors="replace")
        return cls(
            pid=pid,
            name="".join(letter if letter.isprintable() else "?" for letter in name),
            parent=int(fields[1]),
            is_kernel=bool(int(fields[6]) & KERNEL_THREAD),
            own_ticks=int(fields[11]) + int(fields[12]),
            reaped_ticks=int(fields[13]) + int(fields[14]),
            threads=int(fields[17]),
            start_ticks=int(fields[19]),
            cpu=int(fields[36]),
            policy=int(fields[38].split(None, 1)[0]),
        )


class StrangerMeter:
    """A meter of the CPU time of strangers since the last ``mark()``, or since the meter was created.

    ``cpus`` are the watched CPUs. Descendants of the processes ``harness`` and ``roots`` are ours.
    """

    def __init__(self, cpus: Collection[int], *, harness: int | None = None, roots: Collection[int] = (), proc: str = PROC):
        self._cpus = frozenset(cpus)
        self._harness = os.getpid() if harness is None else harness
        self._roots = frozenset(roots)
        self._proc = proc
        self.mark()

    def mark(self) -> None:
        self._begin_s = time.monotonic()
        self._before = self._read()

    def read(self) -> Others:
        """Return the strangers that used CPU time since the mark. It isn't an error if processes end in the meantime."""
        elapsed_s = max(time.monotonic() - self._begin_s, 1 / TICKS_PER_S)
        before = {pid: _Process.of(pid, stat) for pid, stat in self._before.items()}
        after = {pid: _Process.of(pid, stat) for pid, stat in self._read().items()}
        generations = _generations({**before, **after}, {self._harness: 0, **dict.fromkeys(self._roots, OWN_GENERATIONS + 1)})
        used = [_Used.between(before.get(pid), process) for pid, process in after.items()]
        harness = sum(one.own_ticks for one in used if generations.get(one.now.pid, OWN_GENERATIONS + 1) <= OWN_GENERATIONS)
        others = sorted((one for one in used if one.now.pid not in generations), key=lambda one: -one.ticks)
        found = [stranger for one in others[: 2 * STRANGERS_MAX] for stranger in self._strangers(one, elapsed_s)]
        return Others(
            strangers=tuple(sorted(found, key=lambda stranger: -stranger.cores)[:STRANGERS_MAX]),
            harness_cores=round(harness / TICKS_PER_S / elapsed_s, 4),
            all_visible=any(process.is_kernel for process in after.values()),
        )

    def _strangers(self, used: _Used, elapsed_s: float) -> Iterator[Stranger]:
        """Yield a stranger for the process and one for its ended children, if they used CPU time and may have run on the watched CPUs."""
        process = used.now
        if used.ticks < USED_TICKS_MIN:
            return
        allowed = _allowed(process.pid)
        if allowed and not allowed & self._cpus:
            return
        for ticks, is_of_children in ((used.own_ticks, False), (used.reaped_ticks, True)):
            if ticks >= USED_TICKS_MIN:
                yield Stranger(
                    name=process.name,
                    pid=process.pid,
                    cores=round(ticks / TICKS_PER_S / elapsed_s, 4),
                    cpus=() if is_of_children else tuple(sorted({used.cpu_before, *self._cpus_of(process)})),
                    cpus_allowed=tuple(sorted(allowed)),
                    is_kernel=process.is_kernel,
                    yields=process.policy == os.SCHED_IDLE,
                    is_of_children=is_of_children,
                )

    def _cpus_of(self, process: _Process) -> Iterator[int]:
        """Yield the CPU on which each thread of a process last ran."""
        yield process.cpu
        folder = f"{self._proc}/{process.pid}/task"
        for thread in numbers(folder)[:THREADS_MAX] if process.threads > 1 else ():
            if stat := content(f"{folder}/{thread}/stat"):
                yield _Process.of(thread, stat).cpu

    def _read(self) -> dict[int, bytes]:
        """Read the stat file of each process. The text is parsed later, because this method may run during a measurement."""
        return {pid: stat for pid in numbers(self._proc) if (stat := content(f"{self._proc}/{pid}/stat"))}


@dataclass(frozen=True, slots=True)
class _Used:
    """The CPU time that a process used over the period."""

    now: _Process
    own_ticks: int
    reaped_ticks: int
    """CPU time of the ended children that the process waited for during the period."""
    cpu_before: int

    @property
    def ticks(self) -> int:
        return max(self.own_ticks, self.reaped_ticks)

    @classmethod
    def between(cls, before: _Process | None, now: _Process) -> _Used:
        """Return the CPU time used between two readings. If the id belongs to a new process, return all CPU time of that process."""
        if before is None or before.start_ticks != now.start_ticks:
            return cls(now, now.own_ticks, now.reaped_ticks, now.cpu)
        return cls(now, now.own_ticks - before.own_ticks, now.reaped_ticks - before.reaped_ticks, before.cpu)


def _generations(processes: Mapping[int, _Process], roots: Mapping[int, int]) -> dict[int, int]:
    """Return the generation of each root and descendant, by process id. ``roots`` contains the generations of the roots."""
    children: dict[int, list[int]] = {}
    for process in processes.values():
        children.setdefault(process.parent, []).append(process.pid)
    found = dict(roots)
    pending = list(roots)
    while pending:
        parent = pending.pop()
        for pid in children.get(parent, ()):
            if pid not in found:
                found[pid] = found[parent] + 1
                pending.append(pid)
    return found


def _allowed(pid: int) -> frozenset[int]:
    """Return the CPUs that the first thread of a process may use, or an empty set if the process is gone."""
    try:
        return frozenset(os.sched_getaffinity(pid))
    except OSError:
        return frozenset()
