"""A small HTTP proxy with a known peak: four slots, each of which is occupied for 20 ms by each request, allow 200 requests/s.

Usage: limited.py HOST PORT BACKEND_HOST BACKEND_PORT

Each request uses a new connection to the backend.
"""

from __future__ import annotations

import asyncio
import sys

SLOTS, OCCUPIED_S = 4, 0.02

HOST, PORT, BACKEND_HOST, BACKEND_PORT = sys.argv[1:]
free_at_s = [0.0] * SLOTS


async def slot_ends() -> None:
    """Wait for a free slot, occupy it, and return when it is free again. Late timers don't lower the peak."""
    loop = asyncio.get_running_loop()
    slot = free_at_s.index(min(free_at_s))
    free_at_s[slot] = max(free_at_s[slot], loop.time()) + OCCUPIED_S
    await asyncio.sleep(free_at_s[slot] - loop.time())


async def respond(head: bytes) -> bytes:
    await slot_ends()
    reader, writer = await asyncio.open_connection(BACKEND_HOST, int(BACKEND_PORT))
    try:
        writer.write(head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"))
        return (await reader.read(-1)).replace(b"\r\nConnection: close", b"", 1)
    finally:
        writer.close()


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
