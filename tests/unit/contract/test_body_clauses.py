"""Tests of the clauses that send a GET after a request with a body, against servers that handle this correctly and servers that don't."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

import pytest

from httpbench.contract.body_clauses import reads_bodies, reads_bodies_in_a_pipeline
from httpbench.http.server import Server
from httpbench.model import Expectation, Workload

WORKLOAD = Workload(name="hello", description="Hello", expect=Expectation(status=200, body="hello"))
HELLO = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"
REFUSED = b"HTTP/1.1 405 Method Not Allowed\r\nContent-Length: 0\r\n\r\n"
NOT_UNDERSTOOD = b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"

CLAUSES = (reads_bodies, reads_bodies_in_a_pipeline)


class Client:
    """One connection, from the server's side."""

    def __init__(self, connection: socket.socket):
        self.connection = connection
        self.pending = b""

    def until(self, mark: bytes) -> bytes:
        while mark not in self.pending:
            self._more()
        found, self.pending = self.pending.split(mark, 1)
        return found

    def exactly(self, count: int) -> bytes:
        while len(self.pending) < count:
            self._more()
        found, self.pending = self.pending[:count], self.pending[count:]
        return found

    def body(self, head: bytes) -> None:
        for line in head.lower().split(b"\r\n")[1:]:
            name, _, value = line.partition(b": ")
            if name == b"content-length":
                self.exactly(int(value))
            elif name == b"transfer-encoding":
                while size := int(self.until(b"\r\n"), 16):
                    self.exactly(size + 2)
                self.until(b"\r\n")

    def _more(self) -> None:
        data = self.connection.recv(65_536)
        if not data:
            raise EOFError
        self.pending += data


def has_body(head: bytes) -> bool:
    return b"content-length" in head.lower() or b"transfer-encoding" in head.lower()


def reads(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        client.body(head)
        client.connection.sendall(HELLO)


def refuses_before_it_reads(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        client.connection.sendall(REFUSED if has_body(head) else HELLO)
        client.body(head)


def closes(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        client.connection.sendall(HELLO)
        if has_body(head):
            return


def closes_without_a_response(client: Client) -> None:
    while not has_body(client.until(b"\r\n\r\n")):
        client.connection.sendall(HELLO)


def ignores_bodies(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        client.connection.sendall(HELLO if head.startswith((b"GET ", b"POST ")) else NOT_UNDERSTOOD)


def counts_empty_lines(client: Client) -> None:
    while True:
        client.until(b"\r\n\r\n")
        client.connection.sendall(HELLO)


def ignores_chunks(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        if b"Content-Length" in head:
            client.body(head)
        client.connection.sendall(HELLO)


def drops_what_follows(client: Client) -> None:
    while True:
        head = client.until(b"\r\n\r\n")
        client.body(head)
        client.pending = b""
        client.connection.sendall(HELLO)


@contextlib.contextmanager
def serving(behavior: Callable[[Client], None]) -> Iterator[Server]:
    """Start a server with this behavior. It handles each connection in a separate thread."""

    def serve(connection: socket.socket) -> None:
        with connection, contextlib.suppress(EOFError, OSError):
            behavior(Client(connection))

    def accept() -> None:
        with contextlib.suppress(OSError):
            while True:
                connection, _ = listener.accept()
                threading.Thread(target=serve, args=(connection,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=accept, daemon=True).start()
        yield Server("127.0.0.1", listener.getsockname()[1], WORKLOAD)
        listener.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize("behavior", [reads, refuses_before_it_reads, closes, closes_without_a_response])
def test_a_server_that_reads_a_body_or_closes_passes(behavior: Callable[[Client], None], clause: Callable[[Server], str | None]) -> None:
    with serving(behavior) as server:
        assert clause(server) is None


@pytest.mark.parametrize("clause", CLAUSES)
@pytest.mark.parametrize(
    ("behavior", "problem"),
    [
        (ignores_bodies, "after POST with a body of a stated length: the next response is wrong: status 400 instead of 200"),
        (counts_empty_lines, "the server mistook the body for a request"),
        (ignores_chunks, "after POST with a chunked body: "),
    ],
)
def test_a_server_that_takes_a_body_for_a_request_fails(
    behavior: Callable[[Client], None], problem: str, clause: Callable[[Server], str | None]
) -> None:
    with serving(behavior) as server:
        assert problem in (clause(server) or "")


def test_dropping_pipelined_requests_breaks_only_the_pipelining_clause() -> None:
    with serving(drops_what_follows) as server:
        assert reads_bodies(server) is None
    with serving(drops_what_follows) as server:
        impatient = Server(server.host, server.port, server.workload, timeout_s=0.3)
        assert reads_bodies_in_a_pipeline(impatient) == "after POST with a body of a stated length: it did not respond within 0.3 s"
