"""A server that stalls on a known schedule, and the response times that follow from the schedule.

``python tests/stalling_server.py ADDRESS PORT PERIOD_S`` serves until it gets SIGTERM. It sends no response during the first fifth of each
period, and each request takes a twentieth of a period. The response times of an open loop can be computed from this schedule. At its end,
the server prints how long each response took, because a busy machine delays it.
"""

from __future__ import annotations

import asyncio
import functools
import heapq
import json
import signal
import sys

STALL_SHARE = 0.2
WORK_SHARE = 0.05
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"
WARMUP_PERIODS = 1


def due_s(arrival_s: float, period_s: float) -> float:
    """Return the time at which the server responds to a request that arrives at ``arrival_s``."""
    stall_end_s = (arrival_s // period_s + STALL_SHARE) * period_s
    return max(arrival_s, stall_end_s) + WORK_SHARE * period_s


def true_response_times_us(rate_rps: float, connections: int, periods: int, one_way_s: float, period_s: float) -> list[float]:
    """Return the sorted response times of an open loop.

    The requests are those due in this number of periods after a warm-up. The links delay each packet by ``one_way_s``.
    """
    free_s = [0.0] * connections
    times = []
    warmup = round(rate_rps * period_s * WARMUP_PERIODS)
    for number in range(warmup + round(rate_rps * period_s * periods)):
        intended_s = number / rate_rps
        done_s = due_s(max(intended_s, heapq.heappop(free_s)) + one_way_s, period_s) + one_way_s
        heapq.heappush(free_s, done_s)
        if number >= warmup:
            times.append((done_s - intended_s) * 1e6)
    return sorted(times)


class _Connection(asyncio.Protocol):
    def __init__(self, period_s: float, taken_us: list[int]):
        self._period_s = period_s
        self._taken_us = taken_us

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(data.count(b"\r\n\r\n")):
            now_s = loop.time()
            loop.call_at(due_s(now_s, self._period_s), self._respond, now_s)

    def _respond(self, received_s: float) -> None:
        self._transport.write(RESPONSE)
        self._taken_us.append(round((asyncio.get_running_loop().time() - received_s) * 1e6))


async def _serve(address: str, port: int, period_s: float) -> None:
    loop, ended, taken_us = asyncio.get_running_loop(), asyncio.Event(), list[int]()
    loop.add_signal_handler(signal.SIGTERM, ended.set)
    await loop.create_server(functools.partial(_Connection, period_s, taken_us), address, port, backlog=4096)
    print("listening", flush=True)
    await ended.wait()
    print(json.dumps(taken_us))


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
