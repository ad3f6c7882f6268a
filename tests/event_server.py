"""A server that sends event streams, with events at set times.

``python tests/event_server.py HOST PORT FIRST_MS GAP_MS [LOSE_EVERY]`` serves until it is killed. It sends the first event FIRST_MS after a
request, and one event every GAP_MS after that, without end. Events have ids. With LOSE_EVERY, one in so many events is never sent. It
serves HTTP/1.1, and HTTP/2 to clients that begin with its preface.
"""

from __future__ import annotations

import asyncio
import itertools
import sys
from collections.abc import Callable
from functools import partial

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import RequestReceived

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
HTTP2_METHOD = b"PRI "
RECEIVE_BYTES = 65_536


async def _send_events(send: Callable[[bytes], None], first_s: float, gap_s: float, lose_every: int) -> None:
    loop = asyncio.get_running_loop()
    begin_s = loop.time()
    for number in itertools.count():
        await asyncio.sleep(max(begin_s + first_s + number * gap_s - loop.time(), 0))
        if not lose_every or number % lose_every != lose_every - 1:
            send(b"id: %d\ndata: x\n\n" % number)


async def _serve_http1(writer: asyncio.StreamWriter, times: tuple[float, float, int]) -> None:
    writer.write(HEAD)
    await _send_events(lambda event: writer.write(b"%x\r\n%b\r\n" % (len(event), event)), *times)


async def _serve_http2(begun: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, times: tuple[float, float, int]) -> None:
    connection, streams = H2Connection(H2Configuration(client_side=False)), list[asyncio.Task[None]]()

    def send(stream: int, event: bytes) -> None:
        connection.send_data(stream, event)
        writer.write(connection.data_to_send())

    connection.initiate_connection()
    while begun:
        for event in connection.receive_data(begun):
            if isinstance(event, RequestReceived):
                connection.send_headers(event.stream_id, [(":status", "200"), ("content-type", "text/event-stream")])
                streams.append(asyncio.create_task(_send_events(partial(send, event.stream_id), *times)))
        writer.write(connection.data_to_send())
        begun = await reader.read(RECEIVE_BYTES)
    for stream in streams:
        stream.cancel()


async def _serve_client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, times: tuple[float, float, int]) -> None:
    try:
        head = await reader.readuntil(b"\r\n\r\n")
        if head.startswith(HTTP2_METHOD):
            await _serve_http2(head, reader, writer, times)
        else:
            client_left = asyncio.create_task(reader.read())
            serving = asyncio.create_task(_serve_http1(writer, times))
            await asyncio.wait((client_left, serving), return_when=asyncio.FIRST_COMPLETED)
            serving.cancel()
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    writer.close()


async def _serve(host: str, port: int, first_ms: float, gap_ms: float, lose_every: int) -> None:
    server = await asyncio.start_server(
        lambda reader, writer: _serve_client(reader, writer, (first_ms / 1000, gap_ms / 1000, lose_every)),
        host,
        port,
        reuse_port=True,
        backlog=4096,
    )
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(sys.argv[1], int(sys.argv[2]), float(sys.argv[3]), float(sys.argv[4]), int(sys.argv[5]) if sys.argv[5:] else 0))
