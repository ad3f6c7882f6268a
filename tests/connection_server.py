"""A server that handles its connections in an unusual manner.

Usage: ``python tests/connection_server.py HOST PORT closes|few|forks``

``closes``: it closes connections that are idle for 50 ms. ``few``: it accepts a connection only while fewer than four are open. ``forks``:
each connection has a process of its own.
"""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading

IDLE_S = 0.05
OPEN_MAX = 4
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\nHello, World!"


def serve(connection: socket.socket) -> None:
    """Respond to requests until the client or a time limit closes the connection."""
    with connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            while received := connection.recv(65_536):
                connection.sendall(RESPONSE * received.count(b"\r\n\r\n"))
        except OSError:  # also the time limit
            pass


def main() -> None:
    manner = sys.argv[3]
    listener = socket.create_server((sys.argv[1], int(sys.argv[2])), backlog=1024)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    places = threading.Semaphore(OPEN_MAX)

    def serve_and_leave(connection: socket.socket) -> None:
        serve(connection)
        places.release()

    while True:
        if manner == "few":
            places.acquire()
        connection, _ = listener.accept()
        if manner == "forks":
            if not os.fork():
                listener.close()
                serve(connection)
                os._exit(0)
            connection.close()
            continue
        connection.settimeout(IDLE_S if manner == "closes" else None)
        threading.Thread(target=serve_and_leave, args=(connection,), daemon=True).start()


if __name__ == "__main__":
    main()
