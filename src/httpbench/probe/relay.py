"""The contract of a TCP proxy, checked one clause at a time, with both ends of the relay in our hands.

A proxy promises one thing, that what goes in at one end comes out at the other, whole and in order. So bytes are compared to the last one,
in the situations in which relays go wrong: both directions at once, one direction that ends before the other, a reader that is slower
than the sender, ends without a goodbye, and many connections.
"""

from __future__ import annotations

import asyncio
import contextlib
import resource
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from httpbench.model import Limit
from httpbench.probe.contract import Check
from httpbench.probe.peer import CHUNK_BYTES, RESET_ON_CLOSE, Peer, digest, pattern

BULK_BYTES = 8 << 20
HALF_BYTES = 1 << 20
SLOW_BYTES = 8 << 20
SLOW_PAUSE_S = 0.002
SLOW_START_S = 0.3
CONNECTIONS = 1000
AT_ONCE = 32  # connections being set up at the same time: more would be a test of backlogs, some of which hold fifty
MANY_LIMIT_S = 90.0  # some proxies take megabytes for each connection, and time to get them
LIMIT_S = 10.0
"""For one silence within a clause: nothing takes as much as a second where nothing is in its way."""
SURPLUS_WAIT_S = 0.05


@dataclass(frozen=True, slots=True)
class Relay:
    host: str
    port: int
    peer: Peer
    """What is behind it."""

    def connect(self, command: str) -> socket.socket:
        connection = socket.create_connection((self.host, self.port), timeout=LIMIT_S)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.sendall(f"{command}\n".encode())
        return connection


def check_relay(host: str, port: int, peer: Peer, limits: tuple[Limit, ...]) -> list[Check]:
    """Every clause, in the order in which a reader cares."""
    relay = Relay(host, port, peer)
    checks = []
    for name, function, limit in CLAUSES:
        try:
            problem = function(relay)
        except TimeoutError:
            problem = f"nothing more came within {LIMIT_S:g} s"
        except OSError as error:
            problem = f"the connection broke: {error.strerror or error}"
        checks.append(Check(name, problem, limit, declared=limit is not None and limit in limits))
    return checks


def relays_both_ways(relay: Relay) -> str | None:
    sent = pattern(BULK_BYTES)
    with relay.connect("echo both") as connection:
        sender = threading.Thread(target=_send, args=(connection, sent), daemon=True)
        sender.start()
        came = _receive(connection, len(sent))
        problem = _difference(sent, came)
        if problem is None:
            connection.settimeout(SURPLUS_WAIT_S)
            with contextlib.suppress(TimeoutError):
                problem = "bytes came that nobody sent" if connection.recv(1) else None
    sender.join(LIMIT_S)
    return problem


def delivers_before_the_end(relay: Relay) -> str | None:
    with relay.connect(f"download {BULK_BYTES}") as connection:
        return _difference(pattern(BULK_BYTES), _receive(connection, None))


def keeps_the_other_direction(relay: Relay) -> str | None:
    sent = pattern(HALF_BYTES, seed=2)
    with relay.connect("upload x") as connection:
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        answer = _receive(connection, None).decode(errors="replace")
    if answer != digest(sent):
        return "when the client had ended its direction, the backend's answer was " + ("lost" if not answer else "cut or changed")
    relay.peer.received.pop(str(HALF_BYTES), None)
    with relay.connect(f"listen {HALF_BYTES}") as connection:
        problem = _difference(pattern(HALF_BYTES), _receive(connection, None))
        if problem is None:
            with contextlib.suppress(OSError):
                connection.sendall(sent)
                connection.shutdown(socket.SHUT_WR)
            if _eventually(lambda: relay.peer.received.get(str(HALF_BYTES))) != digest(sent):
                problem = "when the backend had ended its direction, the client's bytes were lost"
    return problem


def waits_for_a_slow_reader(relay: Relay) -> str | None:
    with relay.connect(f"download {SLOW_BYTES}") as connection:
        time.sleep(SLOW_START_S)
        came = bytearray()
        while data := connection.recv(CHUNK_BYTES):
            came += data
            time.sleep(SLOW_PAUSE_S)
    return _difference(pattern(SLOW_BYTES), bytes(came))


def passes_on_a_reset_of_the_client(relay: Relay) -> str | None:
    relay.peer.ended.pop("client", None)
    connection = relay.connect("hold client")
    echoed = _echoes(relay)  # by then the first line of the other connection has gone through as well
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    connection.close()
    if _eventually(lambda: relay.peer.ended.get("client")) is None:
        return f"the backend's connection was still open {LIMIT_S:g} s after the client had reset its own"
    return echoed or _echoes(relay)


def passes_on_a_reset_of_the_backend(relay: Relay) -> str | None:
    with relay.connect("reset x") as connection:
        try:
            if connection.recv(1):
                return "bytes came that nobody sent"
        except TimeoutError:
            return f"the client's connection was still open {LIMIT_S:g} s after the backend had reset its own"
        except OSError:
            pass  # the reset itself, passed on
    return _echoes(relay)


def carries_many_connections(relay: Relay) -> str | None:
    with _room_for_files():
        return str(found) if (found := relay.peer.run(_many(relay)).result(2 * MANY_LIMIT_S)) else None


CLAUSES: tuple[tuple[str, Callable[[Relay], str | None], Limit | None], ...] = (
    (f"relays {BULK_BYTES >> 20} MiB each way at once, byte for byte", relays_both_ways, None),
    ("delivers all that was sent before the end", delivers_before_the_end, Limit.STALLS),
    ("keeps one direction open when the other has ended", keeps_the_other_direction, Limit.NO_HALF_CLOSE),
    ("loses nothing for a slow reader", waits_for_a_slow_reader, Limit.STALLS),
    ("passes on a reset of the client", passes_on_a_reset_of_the_client, None),
    ("passes on a reset of the backend", passes_on_a_reset_of_the_backend, None),
    (f"carries {CONNECTIONS:,} connections at once", carries_many_connections, None),
)


async def _many(relay: Relay) -> str | None:
    """Opens all, and only when all are open sends over each something that is its own."""
    turns = asyncio.Semaphore(AT_ONCE)

    async def opened() -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        async with turns:
            reader, writer = await asyncio.open_connection(relay.host, relay.port)
            writer.write(b"echo many\n?")
            await reader.readexactly(1)
            return reader, writer

    async def answered(number: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        own = digest(str(number).encode()).encode()
        writer.write(own)
        return await reader.readexactly(len(own)) == own

    tasks = [asyncio.ensure_future(opened()) for _ in range(CONNECTIONS)]
    try:
        async with asyncio.timeout(MANY_LIMIT_S):
            pairs = await asyncio.gather(*tasks)
            right = await asyncio.gather(*(answered(number, *pair) for number, pair in enumerate(pairs)))
    except (TimeoutError, asyncio.IncompleteReadError, OSError) as error:
        count = sum(task.done() and not task.cancelled() and task.exception() is None for task in tasks)
        return f"{count:,} of {CONNECTIONS:,} connections were set up ({type(error).__name__})" if count < CONNECTIONS else "one broke"
    finally:
        for task in tasks:
            task.cancel()
        for done in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(done, BaseException):
                done[1].transport.abort()
    return None if all(right) else f"{right.count(False)} of {CONNECTIONS:,} connections got the bytes of others"


def _echoes(relay: Relay) -> str | None:
    """Whether it still works."""
    with relay.connect("echo after") as connection:
        connection.sendall(b"still there?")
        return None if _receive(connection, 12) == b"still there?" else "afterwards it relayed no more"


def _send(connection: socket.socket, data: bytes) -> None:
    with contextlib.suppress(OSError):  # the receiving side says what came of it
        connection.sendall(data)


def _receive(connection: socket.socket, size: int | None) -> bytes:
    """So many bytes, or all until the end; fewer where the connection ends, breaks or falls silent."""
    came = bytearray()
    with contextlib.suppress(OSError):
        while (size is None or len(came) < size) and (data := connection.recv(CHUNK_BYTES)):
            came += data
    return bytes(came)


def _difference(sent: bytes, came: bytes) -> str | None:
    if sent == came:
        return None
    at = next((place for place, (one, other) in enumerate(zip(sent, came, strict=False)) if one != other), min(len(sent), len(came)))
    if at == len(came):
        return f"only the first {at:,} of {len(sent):,} bytes came"
    what = "lost" if came[at : at + 16] == sent[at + 1 : at + 17] else "changed or invented"
    return f"byte {at:,} of {len(sent):,} was {what}"


def _eventually(condition: Callable[[], str | None]) -> str | None:
    deadline = time.monotonic() + LIMIT_S
    while (value := condition()) is None and time.monotonic() < deadline:
        time.sleep(0.01)
    return value


@contextmanager
def _room_for_files() -> Iterator[None]:
    """Both ends of each connection are ours; what the shell allows is often a thousand files."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    needed = 2 * CONNECTIONS + 512
    wanted = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
