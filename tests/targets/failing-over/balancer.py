"""A small HTTP proxy that sends requests to two backends in turn and avoids one that fails at set times.

Usage: balancer.py HOST PORT BACKEND [BACKEND AVOIDED_AFTER_S USED_AFTER_S [RECORD]]

Each request uses a new connection to its backend. If a backend doesn't respond within 0.3 s, the client gets status 504, and 502 if it
can't be reached. AVOIDED_AFTER_S after its first failed request, the proxy stops using the backend and checks it every 20 ms. USED_AFTER_S
after the first check that succeeds, the proxy uses it again. A backend with a "-" before its address gets no requests.

The file RECORD gets a line with the time and the event, "failed" or "used", for each failed request and whenever a backend is used again.
The time is in seconds of the monotonic clock.
"""

from __future__ import annotations

import asyncio
import itertools
import math
import sys
import time
from dataclasses import dataclass

TIMEOUT_S = 0.3
CHECKED_EVERY_S = 0.02


@dataclass
class Backend:
    host: str
    port: int
    failed_at_s: float = math.inf
    is_avoided: bool = False

    async def exchange(self, request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(self.host, self.port)
        try:
            writer.write(request)
            return await reader.read(-1)
        finally:
            writer.close()

    async def check(self, used_after_s: float) -> None:
        while True:
            try:
                if await asyncio.wait_for(self.exchange(b"GET / HTTP/1.0\r\n\r\n"), TIMEOUT_S):
                    break
            except OSError:
                pass
            await asyncio.sleep(CHECKED_EVERY_S)
        await asyncio.sleep(used_after_s)
        self.failed_at_s, self.is_avoided = math.inf, False
        record("used")


HOST, PORT, *BACKENDS = sys.argv[1:5]
AVOIDED_AFTER_S, USED_AFTER_S = map(float, sys.argv[5:7] or ("inf", "0"))
RECORD = open(sys.argv[7], "a", buffering=1) if sys.argv[7:] else None  # the process writes to it until it ends
backends = [Backend(address.split(":")[0], int(address.split(":")[1])) for address in BACKENDS if not address.startswith("-")]
turns = itertools.cycle(backends)
checks: set[asyncio.Task[None]] = set()


def record(event: str) -> None:
    if RECORD is not None:
        print(time.monotonic(), event, file=RECORD)


def chosen() -> Backend:
    """Return the next backend that isn't avoided, or the next one if all are: on a busy machine, a good backend may be late, too."""
    now_s = asyncio.get_running_loop().time()
    for backend in itertools.islice(turns, len(backends)):
        if not backend.is_avoided and now_s - backend.failed_at_s >= AVOIDED_AFTER_S:
            backend.is_avoided = True
            checks.add(asyncio.ensure_future(backend.check(USED_AFTER_S)))
        if not backend.is_avoided:
            return backend
    return next(turns)


async def respond(head: bytes) -> bytes:
    """Return the response to a request without a body, with a length so that the client keeps its connection."""
    backend = chosen()
    request = head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    try:
        response = await asyncio.wait_for(backend.exchange(request), TIMEOUT_S)
    except TimeoutError:
        status = b"504 Gateway Timeout"
    except OSError:
        status = b"502 Bad Gateway"
    else:
        if response:
            return response.replace(b"\r\nConnection: close", b"", 1)
        status = b"502 Bad Gateway"
    record("failed")
    backend.failed_at_s = min(backend.failed_at_s, asyncio.get_running_loop().time())
    return b"HTTP/1.1 " + status + b"\r\nContent-Length: 0\r\n\r\n"


async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while True:
            writer.write(await respond(await reader.readuntil(b"\r\n\r\n")))
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def main() -> None:
    server = await asyncio.start_server(serve, HOST, int(PORT), backlog=1024)
    await server.serve_forever()


asyncio.run(main())
