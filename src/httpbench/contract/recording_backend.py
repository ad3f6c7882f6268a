"""A backend for checking HTTP proxies. It records each request as it arrives, and the request's path selects the response."""

from __future__ import annotations

import asyncio
import itertools
import re
import threading
from dataclasses import dataclass

from httpbench.contract.backend import CHUNK_BYTES, HELLO, Backend, digest, pattern, reset

HEAD_END = re.compile(rb"\r?\n\r?\n")
"""End of a head. A proxy under test may forward lines that end with LF alone."""

RAW = "/ambiguous/"
"""Start of the paths of requests that are recorded without being interpreted."""

QUIET_S = 0.15
"""Time without bytes after which a request on a ``RAW`` path counts as complete, in seconds."""

UNEVEN_BYTES = (1, 7, 4096, 65_537)
"""Sizes of the chunks of a chunked body, in turns."""

FOR_THE_NEXT_HOP = ("X-Hop", "Keep-Alive", "Proxy-Connection")
"""Fields that a proxy must not forward, if ``Connection`` contains ``X-Hop`` (RFC 9110, section 7.6.1)."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A request as it arrived at the backend."""

    connection: int
    """Number of the connection."""
    head: bytes
    """All bytes up to the empty line, which is included."""
    body: bytes
    """The body without its framing. On a ``RAW`` path: all bytes after the head."""

    @property
    def line(self) -> list[str]:
        """Method, target and version."""
        return self.head.split(b"\n", 1)[0].decode("latin-1").split()

    @property
    def fields(self) -> list[tuple[str, str]]:
        """Names, in lower case, and values of the header fields."""
        lines = self.head.decode("latin-1").split("\n")[1:]
        return [(name.strip().lower(), value.strip()) for name, colon, value in (line.partition(":") for line in lines) if colon]

    def field(self, name: str) -> str | None:
        """Return the value of the first field with this name, in lower case, or ``None``."""
        return next((value for key, value in self.fields if key == name), None)


def head(status: str, *fields: str) -> bytes:
    """Return the head of a response."""
    return ("\r\n".join((f"HTTP/1.1 {status}", "Content-Type: text/plain", *fields)) + "\r\n\r\n").encode()


def chunked(body: bytes) -> bytes:
    """Return a body in chunks of uneven sizes."""
    framed = bytearray()
    sizes = itertools.cycle(UNEVEN_BYTES)
    while body:
        size = next(sizes)
        framed += b"%x\r\n%s\r\n" % (len(body[:size]), body[:size])
        body = body[size:]
    return bytes(framed) + b"0\r\n\r\n"


class RecordingBackend(Backend):
    """A backend that records all requests, and keeps its connections open for more.

    The first part of the path selects the response, and the second part is its argument:

    - ``/digest``: the SHA-256 of the request's body
    - ``/length/N``, ``/chunked/N``, ``/until-close/N``: N bytes of the pattern, in this framing
    - ``/short/N``, ``/short-chunked/N``: half of the announced bytes, and then the connection ends
    - ``/status/N``: a response with status N and without a body
    - ``/early``: status 403, before the request's body has been read
    - ``/interim``: status 103, and then status 200
    - ``/hop-by-hop``: a response with fields that are meant only for the proxy
    - ``/cacheable``: a response that a cache may store
    - ``/close``: a response after which the connection ends
    - ``/reset``: no response; the connection is reset
    - ``/own/WORD``: the word
    - ``/ambiguous/…``: a response after which the connection ends, when nothing has arrived for ``QUIET_S``
    - any other path: ``HELLO``

    ``/digest`` also sends status 100 before it reads the body if the request asks for it.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        self._requests: list[Recorded] = []
        self._connections = itertools.count()

    def take(self) -> list[Recorded]:
        """Return the requests that have arrived since the last call."""
        with self._lock:
            taken, self._requests = self._requests, []
        return taken

    def _record(self, request: Recorded) -> None:
        with self._lock:
            self._requests.append(request)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        number = next(self._connections)
        pending = bytearray()
        while True:
            while not (end := HEAD_END.search(pending)):
                data = await reader.read(CHUNK_BYTES)
                if not data:
                    if pending:  # a part of a head, which no request of the checks should leave
                        self._record(Recorded(number, bytes(pending), b""))
                    return
                pending += data
            request = Recorded(number, bytes(pending[: end.end()]), b"")
            del pending[: end.end()]
            if RAW.encode() in request.head:
                await self._record_raw(request, pending, reader, writer)
                return
            if not await self._exchange(request, _Body(request, pending, reader), writer):
                return

    async def _record_raw(self, request: Recorded, pending: bytearray, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Record all bytes until none have arrived for some time, and respond."""
        try:
            while data := await asyncio.wait_for(reader.read(CHUNK_BYTES), QUIET_S):
                pending += data
        except TimeoutError:
            pass
        finally:
            self._record(Recorded(request.connection, request.head, bytes(pending)))
        writer.write(head("200 OK", "Content-Length: 0", "Connection: close"))
        await writer.drain()

    async def _exchange(self, request: Recorded, body: _Body, writer: asyncio.StreamWriter) -> bool:
        """Read the rest of a request, respond, and return whether the connection stays open."""
        method, target, *_ = request.line
        _, command, word = (*target.split("/", 2), "")[:3]
        if command == "early":
            self._record(request)
            writer.write(head("403 Forbidden", "Content-Length: 5") + b"early")
            await writer.drain()
            await body.read()
            return False
        if command == "digest" and "100-continue" in (request.field("expect") or ""):
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        content = await body.read()
        self._record(Recorded(request.connection, request.head, content))
        if command == "reset":
            reset(writer)
            return False
        response, stays = _response(command, word, content)
        if method == "HEAD":
            response = response.partition(b"\r\n\r\n")[0] + b"\r\n\r\n"
        writer.write(response)
        await writer.drain()
        return stays and (request.field("connection") or "").lower() != "close"


def _response(command: str, word: str, content: bytes) -> tuple[bytes, bool]:
    """Return the bytes of a response, and whether the connection stays open after it."""
    match command:
        case "digest":
            return _whole(digest(content).encode()), True
        case "length":
            return _whole(pattern(int(word))), True
        case "chunked":
            return head("200 OK", "Transfer-Encoding: chunked") + chunked(pattern(int(word))), True
        case "until-close":
            return head("200 OK", "Connection: close") + pattern(int(word)), False
        case "short":
            return head("200 OK", f"Content-Length: {word}") + pattern(int(word) // 2), False
        case "short-chunked":
            return head("200 OK", "Transfer-Encoding: chunked") + b"%x\r\n%s\r\n" % (int(word) // 2, pattern(int(word) // 2)), False
        case "status":
            return head(f"{word} Without a Body"), True
        case "interim":
            return b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n" + _whole(HELLO.encode()), True
        case "hop-by-hop":
            fields = ("Connection: X-Hop, keep-alive", *(f"{name}: 1" for name in FOR_THE_NEXT_HOP), "X-End: 1")
            return _whole(HELLO.encode(), *fields), True
        case "cacheable":
            fields = ("Cache-Control: public, max-age=3600", 'ETag: "1"', "Last-Modified: Thu, 01 Jan 2026 00:00:00 GMT")
            return _whole(HELLO.encode(), *fields), True
        case "close":
            return _whole(HELLO.encode(), "Connection: close"), False
        case "own":
            return _whole(word.encode()), True
        case _:
            return _whole(HELLO.encode()), True


def _whole(body: bytes, *fields: str) -> bytes:
    return head("200 OK", f"Content-Length: {len(body)}", *fields) + body


class _Body:
    """The body of a request. ``pending`` contains the bytes that have arrived, and keeps those after the body."""

    def __init__(self, request: Recorded, pending: bytearray, reader: asyncio.StreamReader):
        self._request, self._pending, self._reader = request, pending, reader

    async def read(self) -> bytes:
        """Return the whole body. Raises ``EOFError`` if the connection ends before it."""
        if self._request.field("transfer-encoding") is not None:
            return await self._chunks()
        return await self._take(int(self._request.field("content-length") or 0))

    async def _chunks(self) -> bytes:
        body = bytearray()
        while size := int((await self._line()).partition(b";")[0], 16):
            body += await self._take(size)
            await self._line()
        while await self._line():
            pass  # a trailer field
        return bytes(body)

    async def _take(self, size: int) -> bytes:
        while len(self._pending) < size:
            await self._more()
        return self._cut(size)

    async def _line(self) -> bytes:
        while (end := self._pending.find(b"\r\n")) < 0:
            await self._more()
        return self._cut(end + 2)[:-2]

    async def _more(self) -> None:
        data = await self._reader.read(CHUNK_BYTES)
        if not data:
            raise EOFError
        self._pending += data

    def _cut(self, size: int) -> bytes:
        taken = bytes(self._pending[:size])
        del self._pending[:size]
        return taken
