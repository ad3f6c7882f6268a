"""The server under test, and checks that send requests in unusual ways."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass

from httpbench.http.correct import problems
from httpbench.http.exchange import Connection, Received, encode, exchange
from httpbench.http.response import ExchangeError, Response
from httpbench.http.transport import PLAIN, Transport
from httpbench.model import Workload

PIPELINED = 16
BYTE_PAUSE_S = 0.0002
"""Pause after each byte, in seconds, so that even a server that polls reads each byte separately."""

QUIET_S = 0.02
"""Minimum time without bytes on loopback that counts as silence, in seconds."""

CONTROL_LIMIT_S = 0.25
"""Timeout of the control request in :meth:`Server.all_on`, in seconds. A server that handles one connection at a time doesn't respond to
this request."""

PADDING = "X-Padding"


@dataclass(frozen=True, slots=True)
class Server:
    host: str
    port: int
    workload: Workload
    timeout_s: float = 2.0
    """Timeout of one response, in seconds."""
    deadline: float = math.inf
    """Deadline for all responses, on the clock of :func:`time.monotonic`."""
    transport: Transport = PLAIN

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    @property
    def patience_s(self) -> float:
        """Time to wait for one response, in seconds: the timeout or the time left until the deadline, whichever is shorter."""
        return max(min(self.timeout_s, self.deadline - time.monotonic()), QUIET_S)

    def connect(self) -> Connection:
        """Open a connection. Raises ``OSError`` if nothing listens on the port."""
        return Connection(self.host, self.port, self.patience_s, self.transport)

    def request_bytes(self, *extra: tuple[str, str], padding: int = 0, **changes: str) -> bytes:
        """Return the workload's request, encoded with additional headers and changed fields.

        ``padding`` is the number of bytes to add to the request. It must be 0, or at least the length of an empty padding header.
        """
        request = self.workload.request.model_copy(update=changes)
        empty = len(f"{PADDING}: \r\n")
        assert padding == 0 or padding >= empty, "a header is that long"
        pad = ((PADDING, "x" * (padding - empty)),) if padding else ()
        return encode(request, f"{self.host}:{self.port}", extra=(*extra, *pad))

    def exchange(self, **changes: str) -> tuple[Response, bytes]:
        """Send the request with changed fields on a new connection. Returns the response, and the bytes that arrived after it."""
        return exchange(self.host, self.port, self.workload.request.model_copy(update=changes), self.patience_s, self.transport)

    def receive(self, connection: Connection) -> Response:
        """Return the response to the workload's request. Raises :class:`ExchangeError`."""
        return connection.receive(self.workload.request.method)

    def ask(self, connection: Connection) -> Response:
        """Send the workload's request and return the response. Raises :class:`ExchangeError`."""
        connection.send(self.request_bytes())
        return self.receive(connection)

    def problem(self, response: Response, surplus: bytes = b"") -> str | None:
        """Return all problems with a response in one line, or ``None`` if it is correct."""
        return "; ".join(problems(response, surplus, self.workload.expect)) or None

    def is_correct(self, response: Response) -> bool:
        return self.problem(response) is None

    def all_on(self, connection: Connection, method: str | None = None, *, expected: bool = False) -> Received:
        """Return everything that the server sends on a connection before it closes the connection or falls silent.

        If a response is ``expected``, the server can use the full timeout to start sending it. Otherwise, silence may be correct, but on a
        busy machine, it can also mean that the server is slow. A control request on another connection therefore measures how long a
        response takes, and the server counts as silent after twice that time.
        """
        begin = time.monotonic()
        with (
            contextlib.suppress(ExchangeError, OSError),
            Connection(self.host, self.port, min(CONTROL_LIMIT_S, self.patience_s), self.transport) as control,
        ):
            self.ask(control)
        took_s = time.monotonic() - begin
        quiet_s = max(QUIET_S, min(2 * took_s, CONTROL_LIMIT_S))
        return connection.everything(quiet_s, self.patience_s if expected else quiet_s, method or self.workload.request.method)


def pipelining_problem(server: Server) -> str | None:
    """Send :data:`PIPELINED` requests at once on one connection. Return the problem, or ``None``."""
    with server.connect() as connection:
        connection.send(server.request_bytes() * PIPELINED)
        for number in range(PIPELINED):
            try:
                problem = server.problem(server.receive(connection))
            except ExchangeError as error:
                problem = str(error)
            if problem:
                return f"response {number + 1} of {PIPELINED} pipelined: {problem}"
        surplus = connection.surplus()
    return f"{len(surplus)} bytes after {PIPELINED} responses" if surplus else None


def splitting_problem(server: Server) -> str | None:
    """Send a request byte by byte. Return the problem, or ``None``."""
    with server.connect() as connection:
        for byte in server.request_bytes():
            connection.send(bytes([byte]))
            time.sleep(BYTE_PAUSE_S)
        try:
            problem = server.problem(server.receive(connection), connection.surplus())
        except ExchangeError as error:
            problem = str(error)
    return f"a request in single bytes: {problem}" if problem else None
