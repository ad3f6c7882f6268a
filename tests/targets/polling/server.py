"""A small HTTP server that uses CPU time without requests, or seems to. One thread serves all requests.

Usage: server.py PORT MODE

Modes:
    polls: checks its sockets in a loop
    blocks: sleeps until a request arrives
    starts: like blocks, but its start-up work continues for a second after the first response
    collects: like blocks, but works for a second after the requests
"""

from __future__ import annotations

import select
import socket
import sys
import time

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 13\r\n\r\nHello, World!"
WORK_S = 1.0
PAUSE_S = 0.02
"""Time without requests after which the server assumes that the load has ended."""
MANY = 300
"""Number of responses after which the server assumes that it is under load and has something to collect."""


def work(seconds: float) -> None:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        pass


def received(connection: socket.socket) -> bytes:
    """Return the received bytes, which are empty if the connection has ended."""
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
    """Work in a separate thread, like a compiler's background thread."""
    import threading

    threading.Thread(target=work, args=(WORK_S,), daemon=True).start()


if __name__ == "__main__":
    serve(int(sys.argv[1]), sys.argv[2])
