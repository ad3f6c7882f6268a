"""A small HTTP proxy that satisfies the contract or, depending on the mode, breaks it in one way.

Usage: proxy.py HOST PORT BACKEND_HOST BACKEND_PORT MODE

    good             forwards requests and responses
    caches           after some requests, responds to GET from memory
    revalidates      asks the backend whether its own copy of a response is still current
    drops            never responds to one request in a hundred
    rewrites         after some requests, sends another Content-Type
    rewrites-bodies  after some requests, changes a byte of each body

Each client connection has its own connection to the backend.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass

HOST, PORT, BACKEND_HOST, BACKEND_PORT, MODE = sys.argv[1:]
HONEST_REQUESTS = 200
"""Number of requests before most modes begin to cheat."""
DROPPED_EVERY = 100
CHUNK_BYTES = 65_536
HOP_BY_HOP = {"connection", "keep-alive", "proxy-connection", "te", "upgrade"}

numbers = itertools.count()
remembered: dict[str, tuple[bytes, bytes]] = {}
"""Heads and bodies of responses, by the target of the request."""


@dataclass
class Message:
    """The head of a request or response."""

    line: str
    fields: list[tuple[str, str]]

    def get(self, name: str) -> str:
        return next((value for key, value in self.fields if key.lower() == name), "")

    def forwarded(self, *more: str) -> bytes:
        """Return the head without the fields that are only for this proxy."""
        named = {word.strip().lower() for word in self.get("connection").split(",")}
        kept = [f"{name}: {value}" for name, value in self.fields if name.lower() not in HOP_BY_HOP | named]
        return ("\r\n".join([self.line, *kept, *more]) + "\r\n\r\n").encode("latin-1")


async def read_head(reader: asyncio.StreamReader) -> Message:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")[:-2]
    fields = [line.split(":", 1) for line in lines[1:]]
    return Message(lines[0], [(name, value.strip()) for name, value in fields])


async def body_of(message: Message, reader: asyncio.StreamReader, *, until_end: bool) -> AsyncIterator[bytes]:
    """Yield the parts of a body with its framing."""
    if message.get("transfer-encoding").lower() == "chunked":
        size = -1
        while size != 0:
            line = await reader.readuntil(b"\r\n")
            size = int(line.partition(b";")[0], 16)
            yield line + (await reader.readexactly(size + 2) if size else b"")
        while True:
            line = await reader.readuntil(b"\r\n")
            yield line
            if line == b"\r\n":
                return
    left = int(message.get("content-length") or (sys.maxsize if until_end else 0))
    while left and (data := await reader.read(min(left, CHUNK_BYTES))):
        left -= len(data)
        yield data
    if left and not until_end:
        raise EOFError


async def serve(client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
    backend: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
    try:
        while True:
            request = await read_head(client)
            if backend is None:
                backend = await asyncio.open_connection(BACKEND_HOST, BACKEND_PORT)
            number = next(numbers)
            if MODE == "drops" and number % DROPPED_EVERY == DROPPED_EVERY - 1:
                await asyncio.sleep(3600)
            if MODE == "caches" and number >= HONEST_REQUESTS and (own := remembered.get(request.line)):
                to_client.write(b"".join(own))
                continue
            try:
                stays = await exchange(request, client, to_client, *backend, is_honest=number < HONEST_REQUESTS)
            except BadGateway:
                to_client.write(b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                await to_client.drain()
                return
            if request.get("connection").lower() == "close" or not stays.client:
                return
            if not stays.backend:
                backend[1].close()
                backend = None
    except (OSError, EOFError, ValueError, asyncio.LimitOverrunError):
        pass  # either side has closed its connection or has sent something that isn't HTTP
    finally:
        to_client.close()
        if backend is not None:
            backend[1].close()


class BadGateway(Exception):
    """The backend closed its connection before it responded."""


@dataclass
class Stays:
    """The connections that stay open after a response."""

    client: bool
    backend: bool


async def exchange(
    request: Message,
    client: asyncio.StreamReader,
    to_client: asyncio.StreamWriter,
    backend: asyncio.StreamReader,
    to_backend: asyncio.StreamWriter,
    *,
    is_honest: bool,
) -> Stays:
    """Forward a request and its response. The response may arrive before the request has been sent."""
    method = request.line.split(" ", 1)[0]
    known = remembered.get(request.line) if MODE == "revalidates" else None
    conditions = ["If-Modified-Since: Thu, 01 Jan 2099 00:00:00 GMT", 'If-None-Match: "1"'] if known else []
    to_backend.write(request.forwarded(*conditions))

    async def upload() -> None:
        async for part in body_of(request, client, until_end=False):
            to_backend.write(part)
            await to_backend.drain()

    uploading = asyncio.ensure_future(upload())
    try:
        try:
            response = await read_head(backend)
            while response.line.split()[1].startswith("1"):
                to_client.write(response.forwarded())
                response = await read_head(backend)
        except (OSError, EOFError):
            raise BadGateway from None
        status = response.line.split()[1]
        if known and status == "304":
            to_client.write(b"".join(known))
            return Stays(client=True, backend=True)
        if MODE == "rewrites" and not is_honest:
            response.fields = [(name, "text/html" if name.lower() == "content-type" else value) for name, value in response.fields]
        has_no_body = method == "HEAD" or status in ("204", "304")
        until_end = not has_no_body and not response.get("content-length") and not response.get("transfer-encoding")
        head, body = response.forwarded(*(["Connection: close"] if until_end else [])), bytearray()
        to_client.write(head)
        if not has_no_body:
            async for part in body_of(response, backend, until_end=until_end):
                sent = bytes([part[0] ^ 1]) + part[1:] if MODE == "rewrites-bodies" and not is_honest and not body else part
                body += part
                to_client.write(sent)
                await to_client.drain()
        if method == "GET" and status == "200":
            remembered[request.line] = head, bytes(body)
        backend_stays = response.get("connection").lower() != "close" and not until_end
        return Stays(client=uploading.done() and not until_end, backend=backend_stays)
    finally:
        uploading.cancel()


async def main() -> None:
    server = await asyncio.start_server(serve, HOST, int(PORT), backlog=4096, limit=1 << 20)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
