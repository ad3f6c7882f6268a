"""Check the contract of a proxy in TCP mode, clause by clause (:data:`CLAUSES`), from both ends of the proxy.

A proxy must deliver all bytes that enter at one end to the other end, in order. The checks therefore compare every byte, in situations
in which proxies tend to fail: both directions at once, one direction that ends before the other, a reader that is slower than the sender,
resets, and many connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from httpbench.contract.backend import CHUNK_BYTES, RESET_ON_CLOSE, ScriptedBackend, digest, pattern
from httpbench.contract.check import Check
from httpbench.host import open_files
from httpbench.model import Limit

BULK_BYTES = 8 << 20
HALF_BYTES = 1 << 20
SLOW_BYTES = 8 << 20
SLOW_PAUSE_S = 0.002
SLOW_START_S = 0.3
CONNECTIONS = 1000
AT_ONCE = 32  # number of connections to set up at the same time; more could overflow accept queues, which can be as short as fifty
MANY_LIMIT_S = 90.0  # long, because some proxies allocate megabytes for each connection, which takes time
LIMIT_S = 10.0
"""Maximum time without any bytes while a clause is checked, in seconds. A working proxy is silent for less than a second."""
SURPLUS_WAIT_S = 0.05
OWN_FILES = 2 * CONNECTIONS + 512
"""Number of open files that the check requires. This process opens both the client's and the backend's end of each connection."""


@dataclass(frozen=True, slots=True)
class Proxy:
    """The proxy under test, and the backend behind it."""

    host: str
    port: int
    backend: ScriptedBackend

    def connect(self, command: str) -> socket.socket:
        connection = socket.create_connection((self.host, self.port), timeout=LIMIT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{command}\n".encode())
        return connection


def check_proxy(host: str, port: int, backend: ScriptedBackend, limits: tuple[Limit, ...]) -> list[Check]:
    """Check every clause, the most important first."""
    proxy = Proxy(host, port, backend)
    checks = []
    for name, function, limit in CLAUSES:
        try:
            problem = function(proxy)
        except TimeoutError:
            problem = f"nothing more arrived within {LIMIT_S:g} s"
        except OSError as error:
            problem = f"the connection broke: {error.strerror or error}"
        excuses = () if limit is None else (limit,)
        checks.append(Check(name, problem, limit, declared=limit in limits, excuses=excuses))
    return checks


def relays_both_ways(proxy: Proxy) -> str | None:
    sent = pattern(BULK_BYTES)
    with proxy.connect("echo both") as connection:
        sender = threading.Thread(target=_send, args=(connection, sent), daemon=True)
        sender.start()
        received = _receive(connection, len(sent))
        problem = _difference(sent, received)
        if problem is None:
            connection.settimeout(SURPLUS_WAIT_S)
            with contextlib.suppress(TimeoutError):
                problem = "bytes arrived that were never sent" if connection.recv(1) else None
    sender.join(LIMIT_S)
    return problem


def delivers_all_before_the_end(proxy: Proxy) -> str | None:
    with proxy.connect(f"download {BULK_BYTES}") as connection:
        return _difference(pattern(BULK_BYTES), _receive(connection, None))


def keeps_the_other_direction(proxy: Proxy) -> str | None:
    sent = pattern(HALF_BYTES, seed=2)
    with proxy.connect("upload x") as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        response = _receive(connection, None).decode(errors="replace")
    if response != digest(sent):
        return "after the client ended its direction, the backend's response was " + ("lost" if not response else "cut or changed")
    proxy.backend.received.pop(str(HALF_BYTES), None)
    with proxy.connect(f"listen {HALF_BYTES}") as connection:
        problem = _difference(pattern(HALF_BYTES), _receive(connection, None))
        if problem is None:
            with contextlib.suppress(OSError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            if _eventually(lambda: proxy.backend.received.get(str(HALF_BYTES))) != digest(sent):
                problem = "after the backend ended its direction, the client's bytes were lost"
    return problem


def waits_for_a_slow_reader(proxy: Proxy) -> str | None:
    with proxy.connect(f"download {SLOW_BYTES}") as connection:
        time.sleep(SLOW_START_S)
        came = bytearray()
        while data := connection.recv(CHUNK_BYTES):
            came += data
            time.sleep(SLOW_PAUSE_S)
    return _difference(pattern(SLOW_BYTES), bytes(came))


def passes_on_a_reset_of_the_client(proxy: Proxy) -> str | None:
    proxy.backend.ended.pop("client", None)
    connection = proxy.connect("hold client")
    echoed = _echoes(proxy)  # once this echo has returned, the backend has also received the first line of the held connection
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    connection.close()
    if _eventually(lambda: proxy.backend.ended.get("client")) is None:
        return f"the backend's connection was still open {LIMIT_S:g} s after the client reset its own"
    return echoed or _echoes(proxy)


def passes_on_a_reset_of_the_backend(proxy: Proxy) -> str | None:
    with proxy.connect("reset x") as connection:
        try:
            if connection.recv(1):
                return "bytes arrived that were never sent"
        except TimeoutError:
            return f"the client's connection was still open {LIMIT_S:g} s after the backend reset its own"
        except OSError:
            pass  # the proxy passed on the reset
    return _echoes(proxy)


def carries_many_connections(proxy: Proxy) -> str | None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, word: str) -> str:
        writer.write(word.encode())
        return (await reader.readexactly(len(word))).decode()

    with open_files.raised(OWN_FILES):
        return proxy.backend.run(on_many_connections(proxy.host, proxy.port, echo, b"echo many\n")).result(2 * MANY_LIMIT_S)


CLAUSES: tuple[tuple[str, Callable[[Proxy], str | None], Limit | None], ...] = (
    (f"relays {BULK_BYTES >> 20} MiB each way at once, byte for byte", relays_both_ways, None),
    ("delivers all bytes sent before the end", delivers_all_before_the_end, Limit.STALLS),
    ("keeps one direction open after the other has ended", keeps_the_other_direction, Limit.NO_HALF_CLOSE),
    ("loses nothing for a slow reader", waits_for_a_slow_reader, Limit.STALLS),
    ("passes on a reset of the client", passes_on_a_reset_of_the_client, None),
    ("passes on a reset of the backend", passes_on_a_reset_of_the_backend, None),
    (f"carries {CONNECTIONS:,} connections at once", carries_many_connections, None),
)


Exchange = Callable[[asyncio.StreamReader, asyncio.StreamWriter, str], Awaitable[str]]
"""A function that sends a word over a connection, and returns the word that comes back."""


async def on_many_connections(host: str, port: int, exchange: Exchange, opening: bytes = b"") -> str | None:
    """Open all connections first, then exchange different words over each. Return the problem, or ``None``.

    ``opening`` contains the first bytes of each connection.
    """
    turns = asyncio.Semaphore(AT_ONCE)

    async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with turns:
            reader, writer = await asyncio.open_connection(host, port)
            writer.write(opening)
            await exchange(reader, writer, "first")
            return reader, writer

    async def exchanges_its_own(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        own = digest(str(number).encode())
        return await exchange(reader, writer, own) == own

    tasks = [asyncio.ensure_future(opened()) for _ in range(CONNECTIONS)]
    try:
        async with asyncio.timeout(MANY_LIMIT_S):
            pairs = await asyncio.gather(*tasks)
            correct = await asyncio.gather(*(exchanges_its_own(number, *pair) for number, pair in enumerate(pairs)))
    except (TimeoutError, asyncio.IncompleteReadError, OSError) as error:
        count = sum(task.done() and not task.cancelled() and task.exception() is None for task in tasks)
        return (
            f"{count:,} of {CONNECTIONS:,} connections were set up ({type(error).__name__})"
            if count < CONNECTIONS
            else "a connection broke"
        )
    finally:
        for task in tasks:
            task.cancel()
        for done in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(done, BaseException):
                done[1].transport.abort()
    return None if all(correct) else f"{correct.count(False)} of {CONNECTIONS:,} connections received other bytes than their own"


def _echoes(proxy: Proxy) -> str | None:
    """Return a problem if the proxy no longer relays bytes after a reset, else ``None``."""
    with proxy.connect("echo after") as connection:
        connection.sendall(b"still there?")
        return None if _receive(connection, 12) == b"still there?" else "the proxy stopped relaying after the reset"


def _send(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):  # the receiving side reports the outcome
        connection.sendall(data)


def _receive(connection: socket.socket, size: int | None) -> bytes:
    """Receive ``size`` bytes, or all bytes until the end. Returns fewer bytes if the connection ends, breaks or falls silent."""
    came = bytearray()
    with contextlib.suppress(OSError):
        while (size is None or len(came) < size) and (data := connection.recv(CHUNK_BYTES)):
            came += data
    return bytes(came)


def _difference(sent: bytes, received: bytes) -> str | None:
    if sent == received:
        return None
    at = next((place for place, pair in enumerate(zip(sent, received, strict=False)) if pair[0] != pair[1]), min(len(sent), len(received)))
    if at == len(received):
        return f"only the first {at:,} of {len(sent):,} bytes arrived"
    what = "lost" if received[at : at + 16] == sent[at + 1 : at + 17] else "changed or invented"
    return f"byte {at:,} of {len(sent):,} was {what}"


def _eventually(condition: Callable[[], str | None]) -> str | None:
    deadline = time.monotonic() + LIMIT_S
    while (value := condition()) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return value
