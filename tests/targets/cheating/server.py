"""A small HTTP server with an honest mode, and with five cheating modes that look the same to a benchmark.

Usage: server.py HOST PORT honest|length|position|any-bytes|frozen|ahead

All modes except ``position`` and ``any-bytes`` meet every clause of the contract that single requests, a pipeline or a load can test.
"""

from __future__ import annotations

import itertools
import re
import socket
import sys
import threading
from collections.abc import Iterator
from email.utils import formatdate

BODY = b"Hello, World!"
STARTED = formatdate(usegmt=True)
SINGLE = re.compile(rb"(GET|HEAD|POST) (/[!-~]*) HTTP/1\.1")

numbers = itertools.count(1)  # next() is atomic, so threads can share it


def answer(status: str = "200 OK", body: bytes = BODY, *, date: str | None = None, with_body: bool = True) -> bytes:
    date = date or formatdate(usegmt=True)
    head = f"HTTP/1.1 {status}\r\nServer: cheating\r\nDate: {date}\r\nContent-Type: text/plain\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + (body if with_body else b"")


NOT_FOUND = ("404 Not Found", b"")


class Client:
    """A connection from which requests are read."""

    def __init__(self, connection: socket.socket):
        self.connection = connection
        self.pending = b""

    def until(self, mark: bytes) -> bytes:
        while mark not in self.pending:
            self.more()
        found, self.pending = self.pending.split(mark, 1)
        return found

    def exactly(self, count: int) -> bytes:
        while len(self.pending) < count:
            self.more()
        found, self.pending = self.pending[:count], self.pending[count:]
        return found

    def more(self) -> None:
        data = self.connection.recv(65_536)
        if not data:
            raise EOFError
        self.pending += data

    def heads(self) -> Iterator[bytes]:
        """Yield the request line and headers of each request."""
        while True:
            yield self.until(b"\r\n\r\n")

    def read_body(self, headers: dict[bytes, bytes]) -> None:
        if headers.get(b"transfer-encoding") == b"chunked":
            while size := int(self.until(b"\r\n"), 16):
                self.exactly(size + 2)
            self.until(b"\r\n")
        self.exactly(int(headers.get(b"content-length", b"0")))


def honest(client: Client, date: str | None) -> None:
    """Parse requests, route them and read their bodies."""
    for head in client.heads():
        line, *fields = head.split(b"\r\n")
        request = SINGLE.fullmatch(line)
        pairs = [field.partition(b":") for field in fields]
        names = [name.lower() for name, _, _ in pairs]
        if not request or b"host" not in names or len(set(names)) < len(names) or any(name != name.strip() for name in names):
            client.connection.sendall(answer("400 Bad Request", b""))
            return
        headers = {name.lower(): value.strip().lower() for name, _, value in pairs}
        client.read_body(headers)
        method, path = request.groups()
        status, body = ("200 OK", BODY) if path == b"/" else NOT_FOUND
        client.connection.sendall(answer(status, body, date=date, with_body=method != b"HEAD"))
        if headers.get(b"connection") == b"close":
            return


def by_length(client: Client) -> None:
    """Recognize the harness's three requests by their lengths: the usual one, HEAD, and the one with ``Connection: close``."""
    usual = len(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{sys.argv[2]}")
    for head in client.heads():
        closing = len(head) == usual + len("\r\nConnection: close")
        right = closing or len(head) in (usual, usual + 1)
        client.connection.sendall(answer(with_body=len(head) != usual + 1) if right else answer(*NOT_FOUND))
        if closing:
            return


def by_position(client: Client) -> None:
    """Answer the first requests correctly. After that, answer only every second request correctly."""
    for _ in client.heads():
        number = next(numbers)
        client.connection.sendall(answer() if number < 4 or number % 2 else answer(*NOT_FOUND))


def any_bytes(client: Client) -> None:
    while client.connection.recv(65_536):
        client.connection.sendall(answer())


def ahead(client: Client) -> None:
    """Answer the first request of a connection before it arrives."""
    client.connection.sendall(answer())
    for number, head in enumerate(client.heads()):
        if number:
            client.connection.sendall(answer() if head.split(b" ")[1] == b"/" else answer(*NOT_FOUND))
        if b"connection: close" in head.lower():
            return


MODES = {
    "honest": lambda client: honest(client, None),
    "frozen": lambda client: honest(client, STARTED),
    "length": by_length,
    "position": by_position,
    "any-bytes": any_bytes,
    "ahead": ahead,
}


def serve(connection: socket.socket, mode: str) -> None:
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    with connection:
        try:
            MODES[mode](Client(connection))
        except (EOFError, OSError):
            return


def main() -> None:
    host, port, mode = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    listener = socket.create_server((host, port), backlog=1024)
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=serve, args=(connection, mode), daemon=True).start()


if __name__ == "__main__":
    main()
