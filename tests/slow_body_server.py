"""A server that sends the head and the body of each response separately, after known delays.

``python tests/slow_body_server.py HOST PORT HEAD_MS BODY_MS`` serves until it is killed. It sends the head HEAD_MS after the request, and
the body BODY_MS after the head.
"""

from __future__ import annotations

import asyncio
import sys

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\n"
BODY = b"Hello, World!"


class _Connection(asyncio.Protocol):
    def __init__(self, head_s: float, body_s: float):
        self._head_s, self._body_s = head_s, body_s

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.WriteTransport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        for _ in range(data.count(b"\r\n\r\n")):
            loop.call_later(self._head_s, self._transport.write, HEAD)
            loop.call_later(self._head_s + self._body_s, self._transport.write, BODY)


async def _serve(host: str, port: int, head_ms: float, body_ms: float) -> None:
    server = await asyncio.get_running_loop().create_server(
        lambda: _Connection(head_ms / 1000, body_ms / 1000), host, port, reuse_port=True, backlog=4096
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4])))
