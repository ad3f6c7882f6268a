"""Perform one HTTP/1.1 exchange and check the response strictly.

A check must notice problems that a library tolerates: bytes after the body, a wrong Content-Length, a malformed header. This module
therefore uses raw sockets. It is meant for single requests, not for load.
"""

from __future__ import annotations

import contextlib
import re
import socket
import ssl
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from httpbench.http.response import BODY_LIMIT_BYTES, TOO_LARGE, ExchangeError, NoResponseError, Response
from httpbench.http.transport import PLAIN, Transport
from httpbench.model import Request

HEAD_LIMIT_BYTES = 65_536
INTERIM_MAX = 16
"""Maximum number of 1xx responses before the final response. A server that sends more might never finish."""
SURPLUS_WAIT_S = 0.02  # on loopback, surplus bytes come with the response or immediately after it

NUMBER = re.compile(r"[0-9]{1,18}")
STATUS = re.compile(r"[1-9][0-9]{2}")
CHUNK_SIZE = re.compile(rb"([0-9a-fA-F]{1,15})[ \t]*(;|$)")
BEFORE = "before it responded"


@dataclass(frozen=True, slots=True)
class Received:
    """Everything that a server sent on a connection."""

    responses: tuple[Response, ...]
    rest: bytes
    """Bytes after the last response that don't form a response."""
    closed: bool

    @property
    def is_empty(self) -> bool:
        """Whether the server sent nothing."""
        return not self.responses and not self.rest

    @property
    def text(self) -> str:
        """A description such as ``200, 200, then closed``."""
        parts = [str(response.status) for response in self.responses]
        if self.rest:
            parts.append(f"{len(self.rest)} bytes that are not a response")
        came = ", ".join(parts) or "nothing"
        return f"{came}, then closed" if self.closed else came


def encode(request: Request, host: str, *, extra: Sequence[tuple[str, str]] = ()) -> bytes:
    """Return the bytes of a request."""
    headers = {"Host": host, **request.headers}
    if request.body:
        headers.setdefault("Content-Length", str(len(request.body.encode())))
    lines = [f"{request.method} {request.path} HTTP/1.1", *(f"{key}: {value}" for key, value in (*headers.items(), *extra))]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + request.body.encode()


class Connection:
    """A connection to a server under test."""

    def __init__(self, host: str, port: int, timeout_s: float = 2.0, transport: Transport = PLAIN):
        """Connect to the server. Raises ``OSError`` if nothing listens on the port, or if the handshake of TLS fails."""
        self._timeout_s = timeout_s
        self._buffer = bytearray()
        self.ended = False
        """Whether the server is known to have closed the connection."""
        self._socket = transport.connect(host, port, timeout_s)

    def send(self, data: bytes) -> None:
        try:
            self._socket.sendall(data)
        except OSError as error:
            self.ended = not isinstance(error, TimeoutError)
            raise ExchangeError(f"did not accept the request: {error.strerror or error}") from None

    def receive(self, method: str = "GET") -> Response:
        """Return the next final response to a request with this method. Raises :class:`ExchangeError`.

        Interim responses, such as 100 and 103, are ignored (RFC 9110, section 15.2). A 101 response counts as final, because the connection
        stops using HTTP after it.
        """
        deadline = time.monotonic() + self._timeout_s
        for _ in range(INTERIM_MAX):
            response = self._receive(method, deadline)
            if response.status >= 200 or response.status == 101:
                return response
        raise ExchangeError(f"sent more than {INTERIM_MAX} interim responses")

    def receive_head(self) -> Response:
        """Return the head of the next final response. Raises :class:`ExchangeError`."""
        deadline = time.monotonic() + self._timeout_s
        for _ in range(INTERIM_MAX):
            head = self._head(deadline)
            if head.status >= 200:
                return head
        raise ExchangeError(f"sent more than {INTERIM_MAX} interim responses")

    def receive_any(self, method: str = "GET") -> Response:
        """Return the next response, even if it is interim. Raises :class:`ExchangeError`."""
        return self._receive(method, time.monotonic() + self._timeout_s)

    def _head(self, deadline: float) -> Response:
        if not self._buffer:
            self._more(deadline, BEFORE)
        endless = f"sent more than {HEAD_LIMIT_BYTES} bytes of headers"
        return _parse_head(self._until(b"\r\n\r\n", deadline, "before its headers were complete", endless))

    def _receive(self, method: str, deadline: float) -> Response:
        head = self._head(deadline)
        framed, body = self._body(method, head, deadline)
        return replace(head, body=body, size_bytes=head.size_bytes + framed)

    def surplus(self, wait_s: float = SURPLUS_WAIT_S) -> bytes:
        """Wait briefly, and return the bytes that arrived after the last response."""
        self._socket.settimeout(wait_s)
        with contextlib.suppress(OSError):
            self._buffer += self._socket.recv(4096)
        return bytes(self._buffer)

    def rest(self, wait_s: float) -> bytes:
        """Finish sending, and return all bytes that arrive until the server closes the connection or ``wait_s`` seconds have passed.

        With TLS, the connection stays open in both directions, because Python can't close only one.
        """
        deadline = time.monotonic() + wait_s
        with contextlib.suppress(OSError, ExchangeError):
            if not isinstance(self._socket, ssl.SSLSocket):
                self._socket.shutdown(socket.SHUT_WR)
            while len(self._buffer) < BODY_LIMIT_BYTES:
                self._more(deadline, "")
        return bytes(self._buffer)

    def everything(self, quiet_s: float, first_s: float, method: str) -> Received:
        """Return everything that arrives until the server closes the connection or falls silent.

        The server is silent if no byte arrives within the first ``first_s`` seconds, or for ``quiet_s`` seconds after the last byte.
        ``method`` is the method of all requests so far.
        """
        deadline = time.monotonic() + self._timeout_s
        with contextlib.suppress(ExchangeError):
            while len(self._buffer) < HEAD_LIMIT_BYTES:
                self._more(min(deadline, time.monotonic() + (quiet_s if self._buffer else first_s)), "")
        responses: list[Response] = []
        rest = bytes(self._buffer)
        timeout_s, self._timeout_s = self._timeout_s, 0.0  # from here on, use only bytes in the buffer
        with contextlib.suppress(ExchangeError):
            while self._buffer:
                responses.append(self.receive(method))
                rest = bytes(self._buffer)
        self._timeout_s = timeout_s
        return Received(tuple(responses), rest, self.ended)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _body(self, method: str, head: Response, deadline: float) -> tuple[int, bytes]:
        """Return the size of the body in bytes, including framing, and the body itself. RFC 9112, section 6.3, defines the framing."""
        if method == "HEAD" or head.status in (204, 304) or head.status < 200:
            return 0, b""
        if (head.header("transfer-encoding") or "").lower() == "chunked":
            return self._chunked(deadline)
        length = head.header("content-length")
        if length is None:
            return self._until_end(deadline)
        if not NUMBER.fullmatch(length):
            raise ExchangeError(f"sent Content-Length `{length[:40]}`, which is not a number")
        body = self._take(int(length), deadline, f"Content-Length says {length} bytes, but only {{count}} arrived")
        return len(body), body

    def _chunked(self, deadline: float) -> tuple[int, bytes]:
        body = bytearray()
        framed = 0
        while True:
            line = self._line(deadline)
            framed += len(line) + 2
            match = CHUNK_SIZE.match(line)
            if not match:
                raise ExchangeError(f"sent an invalid chunk size, `{line[:40].decode(errors='replace')}`")
            size = int(match[1], 16)
            if size == 0:
                break
            if len(body) + size > BODY_LIMIT_BYTES:
                raise ExchangeError(TOO_LARGE)
            body += self._take(size, deadline, f"a chunk size says {size} bytes, but only {{count}} arrived")
            if self._take(2, deadline, "a chunk has no end") != b"\r\n":
                raise ExchangeError("sent a chunk that is longer than its size")
            framed += size + 2
        while trailer := self._line(deadline):
            framed += len(trailer) + 2
        return framed + 2, bytes(body)

    def _until_end(self, deadline: float) -> tuple[int, bytes]:
        try:
            while len(self._buffer) < BODY_LIMIT_BYTES:
                self._more(deadline, "")
        except ExchangeError:
            if not self.ended:
                raise ExchangeError("sent a body without a length and did not close the connection") from None
        else:
            raise ExchangeError(TOO_LARGE)
        body = self._cut(len(self._buffer))
        return len(body), body

    def _line(self, deadline: float) -> bytes:
        return self._until(b"\r\n", deadline, "in the middle of a chunked body", "sent an endless line in a chunked body")

    def _until(self, mark: bytes, deadline: float, when: str, endless: str) -> bytes:
        """Remove all bytes up to the end of ``mark`` from the buffer, and return the bytes before ``mark``."""
        while (end := self._buffer.find(mark)) < 0:
            if len(self._buffer) > HEAD_LIMIT_BYTES:
                raise ExchangeError(endless)
            self._more(deadline, when)
        return self._cut(end + len(mark))[:end]

    def _take(self, size: int, deadline: float, complaint: str) -> bytes:
        if size > BODY_LIMIT_BYTES:
            raise ExchangeError(TOO_LARGE)
        while len(self._buffer) < size:
            try:
                self._more(deadline, "")
            except ExchangeError:
                raise ExchangeError(complaint.format(count=len(self._buffer))) from None
        return self._cut(size)

    def _cut(self, size: int) -> bytes:
        """Remove bytes from the front of the buffer and return them."""
        taken = bytes(self._buffer[:size])
        del self._buffer[:size]
        return taken

    def _more(self, deadline: float, when: str) -> None:
        if self.ended:
            raise ExchangeError(f"closed the connection {when}")
        try:
            left_s = deadline - time.monotonic()
            if left_s <= 0:  # the deadline also applies to a server that is still sending
                raise TimeoutError
            self._socket.settimeout(left_s)
            data = self._socket.recv(65_536)
        except TimeoutError:
            if when == BEFORE:
                raise NoResponseError(f"did not respond within {self._timeout_s:.3g} s") from None
            raise ExchangeError(f"did not end its response within {self._timeout_s:.3g} s") from None
        except OSError as error:
            self.ended = True
            raise ExchangeError(f"broke the connection {when}: {error.strerror or error}") from None
        if not data:
            self.ended = True
            raise ExchangeError(f"closed the connection {when}")
        self._buffer += data


def begin_stream(host: str, port: int, request: Request, timeout_s: float = 2.0, transport: Transport = PLAIN) -> Response:
    """Send a request for an event stream on a new connection, and close the connection after the head of the response.

    Returns the response with an empty body. Raises the same exceptions as :func:`exchange`.
    """
    request = request.model_copy(update={"headers": {"Accept": "text/event-stream", **request.headers}})
    if transport.http2:
        from httpbench.http import http2  # importing h2 takes 20 ms

        return http2.exchange(host, port, request, timeout_s, transport, only_head=True)
    with Connection(host, port, timeout_s, transport) as connection:
        connection.send(encode(request, f"{host}:{port}"))
        return connection.receive_head()


def exchange(host: str, port: int, request: Request, timeout_s: float = 2.0, transport: Transport = PLAIN) -> tuple[Response, bytes]:
    """Send one request on a new connection. Returns the response, and the bytes that arrived after it.

    Raises :class:`ExchangeError` if the response isn't valid HTTP, and ``OSError`` if there is no connection.
    """
    if transport.http2:
        from httpbench.http import http2  # importing h2 takes 20 ms

        return http2.exchange(host, port, request, timeout_s, transport), b""
    with Connection(host, port, timeout_s, transport) as connection:
        connection.send(encode(request, f"{host}:{port}"))
        response = connection.receive(request.method)
        return response, connection.surplus()


def _parse_head(head: bytes) -> Response:
    """Parse the head of a response, and return the response without its body. Its size includes the empty line after the headers."""
    lines = head.decode("latin-1").split("\r\n")
    parts = lines[0].split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or not STATUS.fullmatch(parts[1]):
        raise ExchangeError(f"responded `{lines[0][:60]}`, which is not an HTTP/1.1 status line")
    headers = []
    for line in lines[1:]:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise ExchangeError(f"sent `{line[:60]}`, which is not a header")
        headers.append((name, value.strip()))
    return Response(int(parts[1]), tuple(headers), b"", len(head) + 4, parts[2].strip() if len(parts) > 2 else "")
