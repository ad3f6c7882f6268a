"""The server under test: its address, the request, and the correct response."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass

from httpbench.http.correct import problems
from httpbench.http.exchange import Connection, ExchangeError, Received, Response, encode, exchange
from httpbench.model import Request, Workload

QUIET_S = 0.02
"""The shortest pause on loopback that counts as silence."""

CONTROL_LIMIT_S = 0.25
"""Timeout of the control request in :meth:`Server.all_on`. A server that serves one connection at a time doesn't respond to it."""

PADDING = "X-Padding"


@dataclass(frozen=True, slots=True)
class Server:
    host: str
    port: int
    workload: Workload
    timeout_s: float = 2.0
    """Timeout of one response."""
    deadline: float = math.inf
    """Deadline for all responses, in the time of :func:`time.monotonic`."""

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    @property
    def patience_s(self) -> float:
        """How long to wait for one response: the timeout, or the time left."""
        return max(min(self.timeout_s, self.deadline - time.monotonic()), QUIET_S)

    def connect(self) -> Connection:
        """Open a connection. Raises ``OSError`` if nothing listens."""
        return Connection(self.host, self.port, self.patience_s)

    def request_bytes(self, *extra: tuple[str, str], padding: int = 0, **changes: str) -> bytes:
        """Return the workload's request with additional headers and with changes to its fields.

        ``padding`` makes it longer by that many bytes. The minimum is the length of a header without a value.
        """
        request = self.workload.request.model_copy(update=changes)
        return encode(request, f"{self.host}:{self.port}", extra=(*extra, *_padding(padding)))

    def exchange(self, request: Request) -> tuple[Response, bytes]:
        """Send a request on a new connection. Returns the response, and any bytes after it."""
        return exchange(self.host, self.port, request, self.patience_s)

    def responds_correctly(self) -> bool:
        """Return whether a request on a new connection gets a correct response."""
        try:
            with self.connect() as connection:
                connection.send(self.request_bytes())
                return self.is_correct(connection.receive(self.workload.request.method))
        except (ExchangeError, OSError):
            return False

    def is_correct(self, response: Response) -> bool:
        return not problems(response, b"", self.workload.expect)

    def all_on(self, connection: Connection, method: str | None = None, *, expected: bool = False) -> Received:
        """Return everything that the server sends on a connection. ``expected``: it must respond, so the full timeout applies.

        If silence is correct, a short pause proves little on a busy machine. Another connection therefore sends a control request, and the
        silence must last twice as long as its response took.
        """
        begin = time.monotonic()
        with (
            contextlib.suppress(ExchangeError, OSError),
            Connection(self.host, self.port, min(CONTROL_LIMIT_S, self.patience_s)) as control,
        ):
            control.send(self.request_bytes())
            control.receive(self.workload.request.method)
        took_s = time.monotonic() - begin
        quiet_s = max(QUIET_S, min(2 * took_s, CONTROL_LIMIT_S))
        return connection.everything(quiet_s, self.patience_s if expected else quiet_s, method or self.workload.request.method)


def _padding(length: int) -> tuple[tuple[str, str], ...]:
    if not length:
        return ()
    empty = len(f"{PADDING}: \r\n")
    assert length >= empty, "a header is that long"
    return ((PADDING, "x" * (length - empty)),)
