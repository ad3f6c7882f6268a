"""A server with one thread, which leaves half of its connections waiting while it responds on the other half.

Usage: ``python tests/starving_server.py HOST PORT``
"""

from __future__ import annotations

import selectors
import socket
import sys
import time

TURN_S = 0.4
"""Time for which each half of the connections gets responses, in seconds."""

RESPONSE_S = 0.0005
"""Time per response, in seconds."""

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"


def main() -> None:
    halves = selectors.DefaultSelector(), selectors.DefaultSelector()
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    listener.setblocking(False)
    accepted, used_s, served = 0, 0.0, 0
    while True:
        try:
            connection, _ = listener.accept()
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            halves[accepted % 2].register(connection, selectors.EVENT_READ)
            accepted += 1
        except BlockingIOError:
            pass
        begin = time.monotonic()
        for key, _ in halves[served].select(timeout=0.001):
            found = key.fileobj
            assert isinstance(found, socket.socket)
            try:
                requests = found.recv(65_536).count(b"\r\n\r\n")
                time.sleep(RESPONSE_S * requests)
                found.sendall(RESPONSE * requests)
            except OSError:
                requests = 0
            if not requests:
                halves[served].unregister(found)
                found.close()
        used_s += time.monotonic() - begin
        if used_s >= TURN_S:
            used_s, served = 0.0, 1 - served


if __name__ == "__main__":
    main()
