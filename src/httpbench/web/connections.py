"""Close connections to the dashboard that don't send a request. Browsers open some in advance, and attackers may open many."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_S = 10.0
"""Maximum time that a client may take to send the head of a request, in seconds.

Between two requests, uvicorn's own limit for idle connections applies.
"""

WAITING_MAX, WAITING_PER_ADDRESS_MAX = 64, 32
"""Maximum numbers of connections without a complete head: of all clients, and of clients with the same address. If there are more, the one
that has waited the longest is closed, so one address can't close the connections of others."""


class HeadLimit(H11Protocol):
    """An HTTP connection that has a time limit for the head of each request."""

    _timer: asyncio.TimerHandle | None = None
    """The timer of the limit, or ``None`` if the connection isn't waiting for a head."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.cycle is None or self.cycle.response_complete:
            self._wait()
        else:
            self._end_wait()

    def connection_lost(self, exc: Exception | None) -> None:
        self._end_wait()
        super().connection_lost(exc)

    def _wait(self) -> None:
        if self._timer or self.transport.is_closing():
            return
        self._timer = self.loop.call_later(HEAD_S, self._close)
        waiting = {each: each._timer.when() for each in self.connections if isinstance(each, HeadLimit) and each._timer}
        own = {each: when for each, when in waiting.items() if each._address == self._address}
        for some, most in ((own, WAITING_PER_ADDRESS_MAX), (waiting, WAITING_MAX)):
            if len(some) > most:
                min(some, key=some.__getitem__)._close()
                return

    @property
    def _address(self) -> str | None:
        """IP address of the client, or ``None`` if unknown."""
        return self.client[0] if self.client else None

    def _end_wait(self) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None

    def _close(self) -> None:
        self._end_wait()
        self.transport.close()
