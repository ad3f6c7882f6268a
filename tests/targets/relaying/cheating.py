"""A proxy that cheats.

Usage: cheating.py HOST PORT BACKEND_HOST BACKEND_PORT MODE

remembers    forwards a few hundred requests, and then responds from memory
pools        forwards the requests of all clients over one connection
"""

from __future__ import annotations

import itertools
import re
import socket
import sys
import threading
from functools import partial

FORWARDED = 200
LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
BACKEND = (sys.argv[3], int(sys.argv[4]))

numbers = itertools.count()  # next() is atomic, so threads can share it
remembered: dict[bytes, bytes] = {}


def message(connection: socket.socket, pending: bytes) -> tuple[bytes, bytes]:
    """Return the next request or response, and the bytes that were received after it. Raise EOFError at the end of the connection."""
    while b"\r\n\r\n" not in pending:
        pending += received(connection)
    end = pending.index(b"\r\n\r\n") + 4
    length = LENGTH.search(pending[:end])
    end += int(length[1]) if length else 0
    while len(pending) < end:
        pending += received(connection)
    return pending[:end], pending[end:]


def received(connection: socket.socket) -> bytes:
    data = connection.recv(65_536)
    if not data:
        raise EOFError
    return data


def remember(client: socket.socket) -> None:
    with client, socket.create_connection(BACKEND) as backend:
        asked, answered = b"", b""
        try:
            while True:
                request, asked = message(client, asked)
                if next(numbers) < FORWARDED or request not in remembered:
                    backend.sendall(request)
                    remembered[request], answered = message(backend, answered)
                client.sendall(remembered[request])
        except (EOFError, OSError):
            return


def pool(client: socket.socket, backend: socket.socket, lock: threading.Lock) -> None:
    asked = b""
    with client:
        try:
            while True:
                request, asked = message(client, asked)
                with lock:
                    backend.sendall(request)
                    response, _ = message(backend, b"")
                client.sendall(response)
        except (EOFError, OSError):
            return


def main() -> None:
    serve = remember if sys.argv[5] == "remembers" else partial(pool, backend=socket.create_connection(BACKEND), lock=threading.Lock())
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    while True:
        client, _ = listener.accept()
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        threading.Thread(target=serve, args=(client,), daemon=True).start()


if __name__ == "__main__":
    main()
