"""Tests of the kernel's counts per request against those of strace and of ``/proc``."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import psutil
import pytest

from httpbench.profile.counters import SENDING, KernelCounter
from tests.harness import Harness

REQUESTS, CONNECTIONS = 2000, 4

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("perf"), reason="requires root, for the kernel's tracepoints, and perf"
)


@pytest.mark.skipif(not shutil.which("strace"), reason="requires strace")
@pytest.mark.parametrize("target", ["c/epoll/level", "c/io_uring", "c/nginx", "golang/net-http", "node/cluster"])
def test_system_calls_equal_those_that_strace_counts(target: str, tmp_path: Path) -> None:
    """Both programs count the same requests.

    If each had requests of its own, strace would count more calls of Go and Node: it slows them down, so that their threads sleep and wake
    up more often. strace also counts what the target does while perf starts and ends, such as the timers of Go and Node. On a busy machine,
    perf takes longer to start.
    """
    with _served(target, tmp_path) as (port, pids), _connections(port) as connections:
        _send(connections, 50)
        table = tmp_path / "strace"
        counter = KernelCounter(lambda: pids, port)
        with subprocess.Popen(["strace", "-c", "-f", "-o", str(table), *_options(pids)], stderr=subprocess.PIPE, text=True) as strace:
            assert strace.stderr is not None
            assert "attached" in strace.stderr.readline()
            with counter.counting():
                _send(connections, REQUESTS)
            strace.send_signal(signal.SIGINT)
    counts = counter.counts(REQUESTS)
    calls = _calls(table.read_text())
    assert counts.syscalls is not None
    assert 0.95 * calls["total"] <= counts.syscalls <= 1.02 * calls["total"], calls
    assert counts.writes == pytest.approx(sum(calls.get(name, 0) for name in SENDING), abs=5), calls


def test_switches_and_faults_equal_those_in_proc(tmp_path: Path) -> None:
    """``/proc`` is what other users than root get. perf misses at most the switches while it starts and ends."""
    with _served("c/nginx", tmp_path) as (port, pids), _connections(port) as connections:
        _send(connections, 50)
        by_perf, by_proc = KernelCounter(lambda: pids, port), KernelCounter(lambda: pids, port)
        with ExitStack() as stack:
            with pytest.MonkeyPatch.context() as patch:
                patch.setenv("PATH", "/nowhere")  # without perf and ss
                stack.enter_context(by_proc.counting())
            stack.enter_context(by_perf.counting())
            _send(connections, REQUESTS)
        exact, listed = by_perf.counts(REQUESTS), by_proc.counts(REQUESTS)
    assert exact.switches == pytest.approx(listed.switches, abs=10)
    assert exact.minor_faults == pytest.approx(listed.minor_faults, abs=10)
    assert (listed.syscalls, listed.writes, listed.packets) == (None, None, None)
    assert exact.writes == REQUESTS
    assert exact.packets is not None
    assert 2 * REQUESTS <= exact.packets <= 2.1 * REQUESTS  # one for each request and response, and acknowledgments that come alone
    assert exact.bytes_sent is not None
    assert exact.bytes_sent % REQUESTS == 0  # all responses have the same size


def test_a_profiled_run_counts_what_every_response_took(tmp_path: Path) -> None:
    """c/epoll sends each response with one call, so the count covers exactly the responses by which it is divided."""
    harness = Harness(tmp_path)
    done = harness.bench("c/epoll/level", "--rate", "2000", "--profile", "--export-json", "-")
    if "its responses take too long for slices" in done.stderr:
        pytest.skip(f"other programs stopped the server for longer than a slice: {done.stderr}")
    assert "was not profiled" not in done.stderr, done.stderr
    (profile,) = json.loads(done.stdout)["profiles"]
    counts = profile["counts"]
    assert counts["requests"] > 0
    assert counts["writes"] == counts["requests"]
    assert counts["syscalls"] >= 2 * counts["requests"]
    assert counts["bytes_sent"] % counts["requests"] == 0
    shown = harness.run("report", "latest", "--wide", env={**harness.env, "COLUMNS": "400"}).stdout
    assert "Syscalls/req" in shown
    assert "Faults/req" in shown


def _options(pids: list[int]) -> list[str]:
    return [word for pid in pids for word in ("-p", str(pid))]


def _calls(table: str) -> dict[str, int]:
    """Parse the number of calls by name in the table of ``strace -c``."""
    rows = (line.split() for line in table.splitlines())
    return {row[-1]: int(row[3]) for row in rows if len(row) >= 5 and row[3].isdecimal()}


@contextmanager
def _served(target: str, folder: Path) -> Iterator[tuple[int, list[int]]]:
    with Harness(folder).start("up", target) as up:
        assert up.stdout is not None
        url = up.stdout.readline().strip()
        try:
            command = psutil.Process(up.pid)
            own = [child.pid for child in command.children(recursive=True) if child.exe() != command.exe()]
            yield int(url.rstrip("/").rpartition(":")[2]), own
        finally:
            up.send_signal(signal.SIGINT)


@contextmanager
def _connections(port: int) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        yield [stack.enter_context(socket.create_connection(("127.0.0.1", port))) for _ in range(CONNECTIONS)]


def _send(connections: list[socket.socket], count: int) -> None:
    """Send requests in turns over the connections, each after the response to the request before."""
    for number in range(count):
        connection = connections[number % len(connections)]
        connection.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        response = b""
        while b"\r\n\r\n" not in response:
            response += connection.recv(4096)
        head, _, body = response.partition(b"\r\n\r\n")
        if length := re.search(rb"content-length: *(\d+)", head, re.I):
            while len(body) < int(length[1]):
                body += connection.recv(4096)
