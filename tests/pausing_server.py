"""A server that stalls for 150 ms after every 700 ms of its running time: ``python tests/pausing_server.py HOST PORT``.

Time during which the server is frozen doesn't count. In an open loop, the response times therefore follow from these two durations, whether
or not the server is frozen between slices.
"""

from __future__ import annotations

import asyncio
import sys
import time

RUN_S, STALL_S = 0.7, 0.15
STEP_S = 0.002
STEP_S_MAX = 0.02
"""Maximum time that counts for one step. A longer step means that the server was frozen."""

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"


def mean_wait_ms() -> float:
    """Return the mean time that a request of an open loop waits for the end of a stall, in ms, averaged over all requests."""
    return 1000 * STALL_S**2 / 2 / (RUN_S + STALL_S)


def wait_ms(quantile: float) -> float:
    """Return a quantile of the time that requests of an open loop wait for the end of a stall, in ms."""
    return 1000 * max(STALL_S - (1 - quantile) * (RUN_S + STALL_S), 0.0)


class _Connection(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._transport.write(RESPONSE * data.count(b"\r\n\r\n"))


async def _serve(host: str, port: int) -> None:
    await asyncio.get_running_loop().create_server(_Connection, host, port, backlog=4096)
    while True:
        await _running_time(RUN_S)
        stalled_s = 0.0
        while stalled_s < STALL_S:
            begin = time.monotonic()
            time.sleep(STEP_S)  # blocks the event loop on purpose
            stalled_s += min(time.monotonic() - begin, STEP_S_MAX)


async def _running_time(seconds: float) -> None:
    ran_s = 0.0
    while ran_s < seconds:
        begin = time.monotonic()
        await asyncio.sleep(STEP_S)
        ran_s += min(time.monotonic() - begin, STEP_S_MAX)


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2])))
