"""Count what a target asks of the kernel: system calls, context switches, page faults and packets.

``perf stat`` counts each event in the kernel, so its counts are exact. They include threads and processes that start or end during the
count. Counting requires access to the kernel's tracepoints, which usually only root has. For other users, ``/proc`` provides the context
switches and page faults, but not the system calls. ``ss`` provides the packets and bytes of each connection to any user.

Tracepoints slow down every system call of the target, so nothing else may be measured during the count.
"""

from __future__ import annotations

import contextlib
import os
import re
import select
import signal
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from httpbench.host import inherited
from httpbench.host.commands import capture
from httpbench.model import KernelCounts

SYSCALLS, SWITCHES, MINOR_FAULTS = "raw_syscalls:sys_enter", "context-switches", "minor-faults"
SENDING_EVENT = "syscalls:sys_enter_"
SENDING = ("write", "writev", "sendto", "sendmsg", "sendmmsg", "sendfile64", "splice")
"""System calls that send data, by the names of their tracepoints."""

TRACEPOINTS = "/sys/kernel/tracing/events"
LIMIT_S = 10.0
"""Maximum time for perf to find the target's threads, or to print its counts, in seconds."""

CONNECTION_COUNTS = re.compile(r"\b(segs_out|segs_in|bytes_received):(\d+)")
EVENT_COLUMN, VALUE_COLUMN = 2, 0
"""Columns in the output of ``perf stat -x,``."""
MINOR_FAULTS_FIELD, FAULTS_OF_CHILDREN_FIELD = 7, 8
"""Indexes among the fields after the name; fields 10 and 11 in proc_pid_stat(5)."""

_Counters = dict[str, int]
"""Counters by thread, process or connection."""
_Reading = dict[str, _Counters]
"""Counters at one moment, by field of :class:`KernelCounts`."""


class KernelCounter:
    """A counter of what the kernel does for some processes and their future children.

    Args:
        pids: Function that lists all processes of the target.
        port: Port of the target. Packets and bytes are those of this machine's connections to it.
    """

    def __init__(self, pids: Callable[[], Iterable[int]], port: int):
        self._pids, self._port = pids, port
        self._counts: dict[str, int | None] = {}

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count during the block. Starting takes about 0.1 s, in which the target must be idle or frozen, so that it starts no threads."""
        pids = list(self._pids())
        perf = _Perf.attached(pids)
        counted: dict[str, int] | None = None
        before = self._read(pids, by_process=perf is None)
        try:
            yield
        finally:
            if perf:
                counted = perf.counts()
        after = self._read(self._pids(), by_process=perf is None)
        self._counts = {name: _grown(counters, after[name]) for name, counters in before.items()}
        if counted is not None:
            sending = [value for name, value in counted.items() if name.startswith(SENDING_EVENT)]
            self._counts.update(
                syscalls=counted.get(SYSCALLS),
                switches=counted.get(SWITCHES),
                minor_faults=counted.get(MINOR_FAULTS),
                writes=sum(sending) if sending else None,
            )

    def counts(self, requests: int) -> KernelCounts:
        """Return the counts of the last block, in which there were so many responses."""
        return KernelCounts(requests=requests, **self._counts)

    def _read(self, pids: Iterable[int], *, by_process: bool) -> _Reading:
        return {**(_of_processes(pids) if by_process else {}), **_of_connections(self._port)}


# --- perf ------------------------------------------------------------------------------------------------------------------------


class _Perf:
    """A running ``perf stat`` that counts the events of some processes, their threads and their future children.

    It ends by itself once these processes have ended, so it doesn't outlive the target if httpbench is killed.
    """

    def __init__(self, process: subprocess.Popen[str], control: int, acknowledged: int):
        self._process, self._control, self._acknowledged = process, control, acknowledged

    @classmethod
    def attached(cls, pids: Iterable[int]) -> _Perf | None:
        """Start to count. Return ``None`` if perf is missing or may not count these events."""
        control, orders = os.pipe()
        answers, acknowledged = os.pipe()
        argv = ("perf", "stat", "-x,", "--delay", "-1", "--control", f"fd:{control},{acknowledged}", "-e", ",".join(_events()))
        try:
            process = subprocess.Popen(
                (*argv, "-p", ",".join(map(str, pids))),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
                start_new_session=True,
                pass_fds=(control, acknowledged),
                env={**inherited.for_builds(), "LC_ALL": "C"},
            )
        except OSError:
            for each in (control, orders, answers, acknowledged):
                os.close(each)
            return None
        os.close(control)
        os.close(acknowledged)
        perf = cls(process, orders, answers)
        if perf._order("enable"):
            return perf
        perf._ended()
        return None

    def counts(self) -> dict[str, int]:
        """End perf, and return the counts by event."""
        self._order("disable")
        counts = {}
        for line in self._ended().splitlines():
            columns = line.split(",")
            if len(columns) > EVENT_COLUMN and not columns[VALUE_COLUMN].startswith("<not supported"):
                # If no thread ran, perf prints "<not counted>".
                counts[columns[EVENT_COLUMN]] = int(columns[VALUE_COLUMN]) if columns[VALUE_COLUMN].isdecimal() else 0
        return counts

    def _order(self, command: str) -> bool:
        """Send a command, and return whether perf has executed it."""
        with contextlib.suppress(BrokenPipeError):
            os.write(self._control, f"{command}\n".encode())
        is_answered, _, _ = select.select([self._acknowledged], [], [], LIMIT_S)
        return bool(is_answered and os.read(self._acknowledged, 16))

    def _ended(self) -> str:
        """End perf, and return what it has printed."""
        os.close(self._control)
        os.close(self._acknowledged)
        with self._process as process:
            process.send_signal(signal.SIGINT)
            try:
                return process.communicate(timeout=LIMIT_S)[1]
            except subprocess.TimeoutExpired:
                process.kill()
                return ""


def _events() -> list[str]:
    """Return the events to count. Not every kernel has every system call."""
    sending = [name for name in SENDING if os.access(f"{TRACEPOINTS}/syscalls/sys_enter_{name}", os.F_OK)]
    return [SYSCALLS, SWITCHES, MINOR_FAULTS, *(f"{SENDING_EVENT}{name}" for name in sending)]


# --- counters that each thread, process or connection has for itself ------------------------------------------------------------


def _grown(before: _Counters, after: _Counters) -> int | None:
    """Return how much counters grew, or ``None`` if there were none, or if one of them is gone."""
    return sum(after.values()) - sum(before.values()) if before and before.keys() <= after.keys() else None


def _of_processes(pids: Iterable[int]) -> _Reading:
    """Return context switches by thread, and minor page faults by process, including those of ended children."""
    switches: _Counters = {}
    minor_faults: _Counters = {}
    for pid in pids:
        folder = Path("/proc") / str(pid)
        with contextlib.suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            minor_faults[str(pid)] = int(fields[MINOR_FAULTS_FIELD]) + int(fields[FAULTS_OF_CHILDREN_FIELD])
            for thread in (folder / "task").iterdir():
                with contextlib.suppress(OSError):
                    lines = (thread / "status").read_text().splitlines()
                    switches[thread.name] = sum(int(line.split()[1]) for line in lines if "ctxt_switches:" in line)
    return {"switches": switches, "minor_faults": minor_faults}


def _of_connections(port: int) -> _Reading:
    """Return packets and bytes by connection. These are TCP segments, which the kernel may split into smaller packets on a real link."""
    packets: _Counters = {}
    bytes_sent: _Counters = {}
    listed = capture(("ss", "--tcp", "--info", "--numeric", "--no-header", "--oneline", "state", "established", "dport", "=", f":{port}"))
    for line in listed.stdout.splitlines() if listed else ():
        own = line.split()[2]
        numbers = {name: int(number) for name, number in CONNECTION_COUNTS.findall(line)}
        packets[own] = numbers.get("segs_out", 0) + numbers.get("segs_in", 0)
        bytes_sent[own] = numbers.get("bytes_received", 0)
    return {"packets": packets, "bytes_sent": bytes_sent}
