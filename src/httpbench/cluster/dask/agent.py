"""The agent, which runs the load generator on a load host.

:func:`perform` is the task of a Dask worker. While it runs, the conductor calls the other functions of this module in the same process.
They read the clock, wait until the load generator is ready, and set the start time. The load generator exits when its standard input
closes, so it never outlives the worker.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from httpbench import __version__
from httpbench.cluster.dask import results
from httpbench.cluster.dask.orders import BEAT_S, AgentOutcome, HostFacts, Orders, Readiness, unpacked
from httpbench.errors import LoadError
from httpbench.host.scratch import scratch_folder
from httpbench.load import Native, SliceReport, programs
from httpbench.load.native import PROGRAM

LOOK_S = 0.05
REPORT_LOOK_S = 0.002
"""Time between two checks for the report of a slice, in seconds. Other targets wait for it."""
END_S = 2.0
"""Time between closing the standard input of a load generator and killing it, in seconds."""
MESSAGES = 15  # number of lines to keep

SINK = "httpbench-reference"
SINK_LOAD = ("-c", "32", "-d", "1s", "--warmup", "200ms", "--json", "-")
SINK_LIMIT_S = 10.0


@dataclass(slots=True)
class _Running:
    process: subprocess.Popen[bytes]
    output: bytes = b""
    is_ready: threading.Event = field(default_factory=threading.Event)
    reports: deque[SliceReport] = field(default_factory=deque)
    """Reports on slices that :func:`load` hasn't returned yet."""
    messages: deque[str] = field(default_factory=lambda: deque(maxlen=MESSAGES))


_running: dict[str, _Running] = {}
_ended: deque[str] = deque(maxlen=16)
"""Tokens of the trials whose load generators ended most recently. ``_running`` contains the load generators that are still running."""


def facts() -> HostFacts:
    """Return the name, CPU count and versions of this load host."""
    generator = Native()
    version = generator.version() if generator.locate() else None
    return HostFacts(socket.gethostname(), len(os.sched_getaffinity(0)), __version__, version)


def clock_ns() -> int:
    """Read the monotonic clock of this host."""
    return time.monotonic_ns()


async def connects(address: str, port: int, limit_s: float) -> str | None:
    """Return why this load host cannot connect to the address of the targets, or ``None`` if it can."""
    try:
        async with asyncio.timeout(limit_s):
            _, writer = await asyncio.open_connection(address, port)
    except TimeoutError:
        return f"no response within {limit_s:g} s"
    except OSError as error:
        return error.strerror or str(error)
    writer.close()
    return None


async def sink_rate_rps() -> float | None:
    """Return the throughput of the single-threaded reference server on this host in requests/s, or ``None`` if a program is missing."""
    return await asyncio.to_thread(_sink_rate_rps)


def _sink_rate_rps() -> float | None:
    server, generator = programs.locate(SINK), programs.locate(PROGRAM)
    if server is None or generator is None:
        return None
    with subprocess.Popen([server, "--threads", "1"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as sink:
        try:
            assert sink.stdout is not None
            url = json.loads(sink.stdout.readline())["url"]
            argv = [generator, *SINK_LOAD, url]
            done = subprocess.run(argv, capture_output=True, timeout=SINK_LIMIT_S, check=True, stdin=subprocess.DEVNULL)
            return float(json.loads(done.stdout)["throughput_rps"])
        except (KeyError, ValueError, subprocess.SubprocessError) as error:
            raise LoadError(f"{PROGRAM} cannot load a server on the same host: {error}") from error
        finally:
            sink.terminate()


async def wait_until_ready(token: str, limit_s: float) -> Readiness:
    """Wait until the load generator is connected and ready to start, has ended, or has exceeded the time limit."""
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        found = _running.get(token)
        if found is not None and found.is_ready.is_set():
            return Readiness.READY
        if token in _ended:
            return Readiness.ENDED
        await asyncio.sleep(LOOK_S)
    return Readiness.LATE


def start(token: str, at_ns: int) -> None:
    """Make the load generator start at ``at_ns`` on this host's monotonic clock. Raise :class:`LoadError` if it has ended."""
    order(token, str(at_ns))


def order(token: str, line: str) -> None:
    """Write a line to the load generator's standard input. Raise :class:`LoadError` if it has ended."""
    found = _running.get(token)
    try:
        if found is None or found.process.stdin is None:
            raise BrokenPipeError
        found.process.stdin.write(f"{line}\n".encode())
        found.process.stdin.flush()
    except BrokenPipeError:
        raise LoadError(f"{PROGRAM} ended too early") from None


async def load(token: str, line: str, limit_s: float) -> SliceReport | None:
    """Make the load generator carry out a slice, and return its report, or ``None`` after the time limit.

    Raise :class:`LoadError` if the load generator ends.
    """
    order(token, line)
    deadline = time.monotonic() + limit_s
    while time.monotonic() < deadline:
        found = _running.get(token)
        if found is None:
            raise LoadError(f"{PROGRAM} ended during a slice")
        if found.reports:
            return found.reports.popleft()
        await asyncio.sleep(REPORT_LOOK_S)
    return None


def perform(orders: Orders, is_cancelled: Callable[[], bool], beat: Callable[[], None]) -> AgentOutcome:
    """Run the load generator until it ends or the task is cancelled. Call ``beat`` twice a second in the meantime.

    Raise :class:`LoadError` if the load generator is missing or hangs, or if the disk of this host is full.
    """
    program = programs.locate(PROGRAM)
    if program is None:
        raise LoadError(f"{PROGRAM} is not installed")
    try:
        with _beating(beat), scratch_folder() as folder:
            begun = () if orders.in_slices else ("--start-on-stdin",)
            return _performed(orders, (program, *begun, *unpacked(orders, folder)), str(folder), is_cancelled)
    except OSError as error:
        raise LoadError(f"{error.filename or tempfile.gettempdir()}: {error.strerror or error}") from error
    finally:
        _ended.append(orders.token)


def _performed(orders: Orders, argv: Sequence[str], folder: str, is_cancelled: Callable[[], bool]) -> AgentOutcome:
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder)
    running = _running[orders.token] = _Running(process)
    readers = [threading.Thread(target=function, args=(running,), daemon=True) for function in (_read_events, _read_output)]
    for reader in readers:
        reader.start()
    try:
        _hold(process, orders.limit_s, is_cancelled)
    finally:
        _end(process)
        del _running[orders.token]
    for reader in readers:
        reader.join(END_S)
    result = results.read(running.output) if process.returncode == 0 else None
    return AgentOutcome(process.returncode, result, "\n".join(running.messages))


@contextlib.contextmanager
def _beating(beat: Callable[[], None]) -> Iterator[None]:
    """Send heartbeats until the block ends."""
    has_ended = threading.Event()

    def send() -> None:
        while not has_ended.is_set():
            beat()
            has_ended.wait(BEAT_S)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    try:
        yield
    finally:
        has_ended.set()
        thread.join()


def _hold(process: subprocess.Popen[bytes], limit_s: float, is_cancelled: Callable[[], bool]) -> None:
    """Wait for the process to end. Raise :class:`LoadError` if it takes too long or the task is cancelled."""
    deadline = time.monotonic() + limit_s
    while process.poll() is None:
        if is_cancelled():
            raise LoadError("the trial was cancelled")
        if time.monotonic() > deadline:
            raise LoadError(f"{PROGRAM} did not end within {limit_s:.0f} s")
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(LOOK_S)


def _end(process: subprocess.Popen[bytes]) -> None:
    """Close the standard input of the process, and kill it if it does not end."""
    assert process.stdin is not None
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _read_output(running: _Running) -> None:
    """Read standard output to its end, and keep it in memory, because the disk of a load host might be full."""
    assert running.process.stdout is not None
    with running.process.stdout as output:
        running.output = output.read()


def _read_events(running: _Running) -> None:
    """Read standard error to its end. Note when the load generator is ready, and keep its last messages."""
    assert running.process.stderr is not None
    native = Native()
    with running.process.stderr as lines:
        for line in lines:
            text = line.decode(errors="replace").rstrip()
            if native.is_ready(text):
                running.is_ready.set()
            elif (report := native.slice_report(text)) is not None:
                running.reports.append(report)
            elif not text.startswith("{"):
                running.messages.append(text)
