"""A small HTTP server on one thread that uses CPU time when it has nothing to do, or seems to.

Usage: server.py PORT MODE
polls: asks its sockets again and again; blocks: sleeps until a request comes; starts: sleeps too, after a start-up that goes on for a
second after the first response; collects: sleeps too, after a second of work that follows the requests.
"""

from __future__ import annotations

import select
import socket
import sys
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
WORK_S = 1.0
PAUSE_S = 0.02
"""Without requests, after which the load has ended."""
MANY = 300
"""Responses after which a server is under load, and has something to collect."""


def work(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def received(connection: socket.socket) -> bytes:
    """What came; nothing where the connection has ended."""
    try:
        return connection.recv(65_536)
    except ConnectionError:
        return b""


def serve(port: int, mode: str) -> None:
    listener = socket.create_server(("127.0.0.1", port), backlog=128)
    listener.setblocking(False)
    connections: dict[int, socket.socket] = {}
    poller = select.epoll()
    poller.register(listener, select.EPOLLIN)
    responses = 0
    while True:
        ready = poller.poll(0 if mode == "polls" else PAUSE_S if mode == "collects" and responses > MANY else None)
        if not ready and mode == "collects":
            work(WORK_S)
            responses = 0
        for number, _ in ready:
            if number == listener.fileno():
                connection, _ = listener.accept()
                connection.setblocking(False)
                connections[connection.fileno()] = connection
                poller.register(connection, select.EPOLLIN)
                continue
            data = received(connections[number])
            if not data:
                poller.unregister(number)
                connections.pop(number).close()
                continue
            connections[number].sendall(RESPONSE * data.count(b"\r\n\r\n"))
            responses += 1
            if mode == "starts" and responses == 1:
                start_up()


def start_up() -> None:
    """Work beside the requests, as a compiler's thread would do it."""
    import threading

    threading.Thread(target=work, args=(WORK_S,), daemon=True).start()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
