"""Backends for checking the contract of a proxy.

A check must control both ends of a proxy, for example to close one direction and continue in the other, to reset connections, to stay
silent, or to compare the bytes that arrived. A backend runs in its own thread on one event loop. It is meant for checks, not for load.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import socket
import struct
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, Self, TypeVar

from httpbench.model import Expectation, Workload

HELLO = "Hello from behind the proxy!"
HELLO_WORKLOAD = Workload(name="hello", description="A response through a proxy that is verified", expect=Expectation(body=HELLO))
"""Workload whose correct response shows that a proxy has started."""

RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER with a timeout of zero, so that closing the connection sends a reset
CHUNK_BYTES = 65_536
STARTED_LIMIT_S = 10.0

Result = TypeVar("Result")


def pattern(size: int, seed: int = 1) -> bytes:
    """Return pseudorandom bytes. The same size and seed always result in the same bytes."""
    return random.Random(seed).randbytes(size)


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


class Backend:
    """A context manager that runs a backend. The backend listens on ``port`` of loopback until the block ends."""

    def __init__(self) -> None:
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="backend of a proxy", daemon=True)
        self._server: asyncio.Server | None = None

    def run(self, work: Coroutine[Any, Any, Result]) -> Future[Result]:
        """Run a coroutine on the backend's event loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def __enter__(self) -> Self:
        self._thread.start()
        self._server = self.run(asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=4096)).result(STARTED_LIMIT_S)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, *_: object) -> None:
        self.run(self._close()).result(STARTED_LIMIT_S)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(STARTED_LIMIT_S)
        self._loop.close()

    async def _close(self) -> None:
        if self._server is not None:
            self._server.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._serve(reader, writer)
        except (OSError, EOFError, ValueError, asyncio.CancelledError):
            pass  # the proxy closed the connection or sent nonsense, or this backend is stopping; the check detects the closed connection
        finally:
            writer.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, which is closed afterward. A subclass must define this method."""
        raise NotImplementedError


class ScriptedBackend(Backend):
    """A backend for proxies in TCP mode, which executes the commands that its connections receive.

    The first line of each connection consists of a command and a word:

    - ``GET …``: responds with ``HELLO`` to this request and to all later requests
    - ``echo x``: sends back all bytes that arrive, until the other side finishes sending
    - ``download N``: sends N bytes of the pattern and closes the connection
    - ``upload x``: reads until the other side finishes sending, then sends the SHA-256 of the bytes read
    - ``listen N``: sends N bytes of the pattern and finishes sending; ``received[N]`` keeps the SHA-256 of the bytes from the other side
    - ``hold x``: sends nothing; ``ended[x]`` records how the connection ended
    - ``reset x``: resets the connection
    """

    def __init__(self) -> None:
        super().__init__()
        self.received: dict[str, str] = {}
        self.ended: dict[str, str] = {}

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        line = (await reader.readline()).decode(errors="replace").strip()
        command, _, word = line.partition(" ")
        match command:
            case "GET":
                while True:
                    while (await reader.readline()).strip():
                        pass
                    writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(HELLO)}\r\n\r\n{HELLO}".encode())
                    await writer.drain()
                    if not await reader.readline():
                        return
            case "echo":
                while data := await reader.read(CHUNK_BYTES):
                    writer.write(data)
                    await writer.drain()
            case "download":
                writer.write(pattern(int(word)))
                await writer.drain()
            case "upload":
                writer.write(digest(await reader.read()).encode())
                await writer.drain()
            case "listen":
                writer.write(pattern(int(word)))
                await writer.drain()
                writer.write_eof()
                self.received[word] = digest(await reader.read())
            case "hold":
                try:
                    await reader.read()
                    self.ended[word] = "end"
                except OSError:
                    self.ended[word] = "reset"
            case "reset":
                reset(writer)


def reset(writer: asyncio.StreamWriter) -> None:
    """Reset a connection."""
    writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
    writer.transport.abort()
