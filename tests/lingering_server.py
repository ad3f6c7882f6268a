"""A server with one thread, which waits on each connection for another request before it responds on the next one, as Puma does.

Usage: ``python tests/lingering_server.py HOST PORT``
"""

from __future__ import annotations

import selectors
import socket
import sys

LINGER_S = 0.15
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"
IN_A_ROW_MAX = 10
"""Maximum number of responses on one connection before those that wait get their turn."""


def serve(connection: socket.socket) -> bool:
    """Respond to requests until no further one arrives in time. Returns whether the connection is still open."""
    connection.settimeout(LINGER_S)
    try:
        for _ in range(IN_A_ROW_MAX):
            if not (received := connection.recv(65_536)):
                return False
            connection.sendall(RESPONSE * received.count(b"\r\n\r\n"))
    except TimeoutError:
        return True
    except OSError:
        return False
    return True


def main() -> None:
    ready = selectors.DefaultSelector()
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    ready.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            found = key.fileobj
            assert isinstance(found, socket.socket)
            if found is listener:
                connection, _ = listener.accept()
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                ready.register(connection, selectors.EVENT_READ)
            elif not serve(found):
                ready.unregister(found)
                found.close()


if __name__ == "__main__":
    main()
