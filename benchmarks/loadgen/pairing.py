"""Two generators, pair by pair, on one server: as whole runs that follow each other, or in short turns of two runs at once.

What disturbs a machine often lasts for seconds. Whole runs of seconds are then disturbed one by one, and their ratios scatter. In turns
both generators are started, and one of them is always stopped (SIGSTOP): the two halves of a pair are a tenth of a second apart, and
whatever lasts longer than that disturbs both alike.
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
"""How long a generator has to start, connect and warm up, alone."""
SETTLE_S = 0.01
"""The beginning of a turn, which is not counted: the server still answers what the other one has asked, and caches are cold."""
TURNS_MAX = 25
"""A turn without a response is prolonged up to this many times: on a busy machine the two sides may not have had their CPUs."""

COUNTER_BYTES = 64
"""How far apart the server's threads count."""


@dataclass(frozen=True, slots=True)
class Half:
    """One generator's part of a pair: what came of it, and the server's CPU time for each request in microseconds."""

    usage: Usage
    server_cpu_us: float
    server_cores: float
    """CPU seconds of the server in each second of wall time."""


Pair = tuple[Half, Half]


def in_changing_order(number: int, ours: Callable[[], Half], theirs: Callable[[], Half]) -> Pair:
    """Who comes second in one pair comes first in the next."""
    if number % 2 == 0:
        return ours(), theirs()
    second, first = theirs(), ours()
    return first, second


def cpu_s_of(*pids: int) -> float:
    """CPU time of all threads of these processes that live, to the nanosecond."""
    threads = [thread for pid in pids for thread in Path(f"/proc/{pid}/task").iterdir()]
    return sum(int((thread / "schedstat").read_text().split()[0]) for thread in threads) / 1e9


# --- whole runs ------------------------------------------------------------------------------------------------------------------


def whole_runs(ours: Peer, peer: Peer, load: Load, server: Server, cpu: int, pairs: int) -> list[Pair]:
    """``pairs`` runs of each. Throughput is what each generator says of itself."""
    our_run, their_run = (partial(whole_run, which, load, server, cpu) for which in (ours, peer))
    return [in_changing_order(number, our_run, their_run) for number in range(pairs)]


def whole_run(peer: Peer, load: Load, server: Server, cpu: int) -> Half:
    start_s, before_s = time.monotonic(), cpu_s_of(*server.pids)
    usage = peer.run(load, server.port, cpu)
    seconds, server_s = time.monotonic() - start_s, cpu_s_of(*server.pids) - before_s
    return Half(usage, server_s / max(usage.requests, 1.0) * 1e6, server_s / seconds)


# --- turns -----------------------------------------------------------------------------------------------------------------------


def in_turns(ours: Peer, peer: Peer, load: Load, server: Server, cpu: int, turn_s: float, pairs: int) -> list[Pair]:
    """``pairs`` turns of each, all in one start of both. Throughput is what the server has counted within each turn."""
    lasting = replace(load, seconds=math.ceil(2 * START_S + 2 * pairs * (SETTLE_S + turn_s) * 1.5) + 5)
    with stopped(ours, lasting, server.port, cpu) as our_run, stopped(peer, lasting, server.port, cpu) as their_run:
        our_turn, their_turn = (partial(turn, run, server, turn_s) for run in (our_run, their_run))
        return [in_changing_order(number, our_turn, their_turn) for number in range(pairs)]


@contextmanager
def stopped(peer: Peer, load: Load, port: int, cpu: int) -> Iterator[subprocess.Popen[bytes]]:
    """A run that has begun and stands still."""
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
    """The time, the server's count of requests, and the CPU time of both sides so far; times in seconds."""
    assert server.requests is not None
    counters = server.requests.read_bytes()
    count = sum(struct.unpack_from("Q", counters, at)[0] for at in range(0, len(counters), COUNTER_BYTES))
    return time.monotonic(), count, cpu_s_of(pid), cpu_s_of(*server.pids)
