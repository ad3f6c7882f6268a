"""The server that is looked at: where it listens, what it is asked, and what it must answer."""

from __future__ import annotations

import contextlib
import math
import time
from dataclasses import dataclass

from httpbench.model import Request, Workload
from httpbench.probe.answer import problems
from httpbench.probe.exchange import Answer, Connection, ExchangeError, Heard, ask, encode

QUIET_S = 0.02
"""How long a silence on loopback is at least, before it counts as one."""

CONTROL_LIMIT_S = 0.25
"""For the control question of :meth:`Server.hears`: a server that serves one connection at a time does not answer it."""

PADDING = "X-Padding"


@dataclass(frozen=True, slots=True)
class Server:
    host: str
    port: int
    workload: Workload
    timeout_s: float = 2.0
    """For one answer."""
    deadline: float = math.inf
    """For all of them, as of :func:`time.monotonic`."""

    @property
    def is_late(self) -> bool:
        return time.monotonic() >= self.deadline

    @property
    def patience_s(self) -> float:
        """For one answer, as long as there is time."""
        return max(min(self.timeout_s, self.deadline - time.monotonic()), QUIET_S)

    def connect(self) -> Connection:
        """Raises ``OSError`` when nobody listens."""
        return Connection(self.host, self.port, self.patience_s)

    def bytes_of(self, *extra: tuple[str, str], padding: int = 0, **changes: str) -> bytes:
        """The workload's request, with further headers, and with changes to its fields.

        ``padding`` makes it longer by so many bytes, at least by a header without a value.
        """
        request = self.workload.request.model_copy(update=changes)
        return encode(request, f"{self.host}:{self.port}", extra=(*extra, *_padding(padding)))

    def ask(self, request: Request) -> tuple[Answer, bytes]:
        """On a connection of its own: the answer, and what came after it."""
        return ask(self.host, self.port, request, self.patience_s)

    def answers_rightly(self) -> bool:
        """Asks once, on a connection of its own."""
        try:
            with self.connect() as connection:
                connection.send(self.bytes_of())
                return self.is_right(connection.receive(self.workload.request.method))
        except (ExchangeError, OSError):
            return False

    def is_right(self, answer: Answer) -> bool:
        return not problems(answer, b"", self.workload.expect)

    def hears(self, connection: Connection, method: str | None = None, *, expected: bool = False) -> Heard:
        """All that it says on a connection. ``expected``: something should come, so it is waited for.

        Where it may rightly say nothing, a pause alone proves little on a busy machine. So a question with a sure answer is asked on
        another connection meanwhile, and the silence must last for some time longer than that took.
        """
        begin = time.monotonic()
        with (
            contextlib.suppress(ExchangeError, OSError),
            Connection(self.host, self.port, min(CONTROL_LIMIT_S, self.patience_s)) as control,
        ):
            control.send(self.bytes_of())
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
