"""Measure two load generators in pairs on one server: in whole runs, or in short turns of two simultaneous runs.

A disturbance often lasts for seconds. With whole runs, it may affect only one half of a pair, which makes the ratios scatter. With turns,
both load generators are started, and one of them is always stopped (SIGSTOP). The two halves of a pair then follow each other within a
tenth of a second, so a disturbance that lasts longer affects both.
"""

from __future__ import annotations

import math
import os
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from peers import Load, Peer, Usage
from servers import Server

START_S = 1.0
"""Time for a load generator to start, connect and warm up while the other one is stopped."""
SETTLE_S = 0.01
"""Time at the start of a turn that isn't measured, because the server is still answering the other load generator and caches are cold."""
TURNS_MAX = 25
"""Maximum length of a turn without a response, as a multiple of ``turn_s``. On a busy machine, a program may have to wait for a CPU."""

COUNTER_BYTES = 64
"""Distance in bytes between the counters of the server's threads."""


@dataclass(frozen=True, slots=True)
class Half:
    """One load generator's half of a pair: its result, and the server's CPU time per request in microseconds."""

    usage: Usage
    server_cpu_us: float
    server_cores: float
    """CPU seconds of the server per second of wall time."""


Pair = tuple[Half, Half]


def in_changing_order(number: int, ours: Callable[[], Half], theirs: Callable[[], Half]) -> Pair:
    """Measure both halves of a pair. The load generator that goes first alternates with ``number``."""
    if number % 2 == 0:
        return ours(), theirs()
    second, first = theirs(), ours()
    return first, second


def cpu_s_of(*pids: int) -> float:
    """Return the CPU time of all living threads of these processes, in seconds, with a resolution of a nanosecond."""
    threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


# --- whole runs ------------------------------------------------------------------------------------------------------------------


def whole_runs(ours: Peer, peer: Peer, load: Load, server: Server, cpu: int, pairs: int) -> list[Pair]:
    """Run each load generator ``pairs`` times. The throughput is the value that the load generator reports."""
    our_run, their_run = (partial(whole_run, which, load, server, cpu) for which in (ours, peer))
    return [in_changing_order(number, our_run, their_run) for number in range(pairs)]


def whole_run(peer: Peer, load: Load, server: Server, cpu: int) -> Half:
    start_s, before_s = time.monotonic(), cpu_s_of(*server.pids)
    usage = peer.run(load, server.port, cpu)
    seconds, server_s = time.monotonic() - start_s, cpu_s_of(*server.pids) - before_s
    return Half(usage, server_s / max(usage.requests, 1.0) * 1e6, server_s / seconds)


# --- turns -----------------------------------------------------------------------------------------------------------------------


def in_turns(ours: Peer, peer: Peer, load: Load, server: Server, cpu: int, turn_s: float, pairs: int) -> list[Pair]:
    """Start both load generators once and give each ``pairs`` turns. The throughput comes from the server's count in each turn."""
    lasting = replace(load, seconds=math.ceil(2 * START_S + 2 * pairs * (SETTLE_S + turn_s) * 1.5) + 5)
    with stopped(ours, lasting, server.port, cpu) as our_run, stopped(peer, lasting, server.port, cpu) as their_run:
        our_turn, their_turn = (partial(turn, run, server, turn_s) for run in (our_run, their_run))
        return [in_changing_order(number, our_turn, their_turn) for number in range(pairs)]


@contextmanager
def stopped(peer: Peer, load: Load, port: int, cpu: int) -> Iterator[subprocess.Popen[bytes]]:
    """Start a load generator, and stop it with SIGSTOP once it has warmed up."""
    command = peer.pinned(load, port, cpu)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            time.sleep(START_S)
            os.killpg(process.pid, signal.SIGSTOP)
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def turn(run: subprocess.Popen[bytes], server: Server, turn_s: float) -> Half:
    os.killpg(run.pid, signal.SIGCONT)
    time.sleep(SETTLE_S)
    before = state(run.pid, server)
    for _ in range(TURNS_MAX):
        time.sleep(turn_s)
        after = state(run.pid, server)
        if after[1] > before[1]:
            break
    os.killpg(run.pid, signal.SIGSTOP)
    if run.poll() is not None:
        raise RuntimeError(f"{run.args!r} ended before its last turn, with exit code {run.returncode}")
    seconds, count, generator_s, server_s = (end - start for start, end in zip(before, after, strict=True))
    if count == 0:
        raise RuntimeError(f"{run.args!r} got no response in {TURNS_MAX * turn_s:g} s")
    return Half(Usage(count / seconds, count, generator_s / count * 1e6), server_s / count * 1e6, server_s / seconds)


def state(pid: int, server: Server) -> tuple[float, float, float, float]:
    """Return the time in seconds, the server's request count, and the CPU seconds used so far by the load generator and by the server."""
    assert server.requests is not None
    counters = server.requests.read_bytes()
    count = sum(struct.unpack_from("Q", counters, at)[0] for at in range(0, len(counters), COUNTER_BYTES))
    return time.monotonic(), count, cpu_s_of(pid), cpu_s_of(*server.pids)
