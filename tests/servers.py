"""A small HTTP server on loopback that behaves or misbehaves as a test requests."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
from enum import StrEnum
from types import TracebackType
from typing import Self

BODY = b"Hello, World!"
END_OF_HEAD = b"\r\n\r\n"
RESET_ON_CLOSE = struct.pack("ii", 1, 0)  # SO_LINGER with a timeout of 0: closing sends RST


class Mode(StrEnum):
    OK = "ok"
    ERROR = "500"  # every response has status 500
    RESET = "reset"  # resets the connection instead of answering every tenth request
    CLOSE = "close"  # closes the connection instead of answering every tenth request
    SLOW = "slow"  # every response takes ``delay_s``
    LATE = "late"  # every hundredth response takes ``delay_s``
    SILENT = "silent"  # reads and never responds


class Server:
    """A server that runs during a block: ``with Server(Mode.OK) as server: … server.url``.

    Requests can be pipelined, but must have no body.
    """

    def __init__(self, mode: Mode, *, delay_s: float = 0.1):
        self.mode = mode
        self.delay_s = delay_s
        self.requests = 0
        self.connections = 0
        self.heads: set[bytes] = set()
        """Distinct request heads received so far."""
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/"

    def __enter__(self) -> Self:
        self._thread.start()
        listening = asyncio.run_coroutine_threadsafe(self._loop.create_server(lambda: _Connection(self), "127.0.0.1", 0), self._loop)
        self._server = listening.result(timeout=10)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._loop.call_soon_threadsafe(self._server.close)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(timeout=10)
        self._loop.close()


class _Connection(asyncio.Protocol):
    def __init__(self, server: Server):
        self._of = server
        self._pending = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        self._of.connections += 1

    def data_received(self, data: bytes) -> None:
        *heads, self._pending = (self._pending + data).split(END_OF_HEAD)
        self._of.heads.update(heads)
        for head in heads:
            self._of.requests += 1
            self._answer(closing=b"connection: close" in head.lower())

    def _answer(self, *, closing: bool) -> None:
        mode, number = self._of.mode, self._of.requests
        if mode is Mode.SILENT:
            return
        if mode is Mode.RESET and number % 10 == 0:
            self._reset()
        elif mode is Mode.CLOSE and number % 10 == 0:
            self._transport.close()
        elif mode is Mode.SLOW or (mode is Mode.LATE and number % 100 == 0):
            asyncio.get_running_loop().call_later(self._of.delay_s, self._send, closing)
        else:
            self._send(closing)

    def _send(self, closing: bool) -> None:
        if self._transport.is_closing():
            return
        status = b"500 Internal Server Error" if self._of.mode is Mode.ERROR else b"200 OK"
        connection = b"Connection: close\r\n" if closing else b""
        self._transport.write(b"HTTP/1.1 %s\r\n%sContent-Length: %d\r\n\r\n%s" % (status, connection, len(BODY), BODY))
        if closing:
            self._transport.close()

    def _reset(self) -> None:
        self._transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET_ON_CLOSE)
        self._transport.abort()


def free_port() -> int:
    """Return a port on loopback that no program listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
