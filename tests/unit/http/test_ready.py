"""Tests of the wait until a server responds correctly."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from httpbench.errors import StartError
from httpbench.http import wait_until_correct
from httpbench.model import Expectation, Request, Workload

RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok"
WORKLOAD = Workload(name="ok", description="two letters", request=Request(path="/"), expect=Expectation(body="ok"))


@contextmanager
def server(silent: int, answer: bytes = RESPONSE) -> Iterator[int]:
    """Accept the first ``silent`` connections without responding, and respond on all later ones. Yield the port."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        kept = []

        def serve() -> None:
            while True:
                try:
                    connection, _ = listener.accept()
                except OSError:
                    return
                kept.append(connection)
                if len(kept) > silent and connection.recv(4096):
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        for connection in kept:
            connection.close()


def test_a_server_that_drops_the_first_connection_gets_a_second() -> None:
    with server(silent=1) as port:
        response = wait_until_correct("127.0.0.1", port, WORKLOAD, 10.0, lambda: True)
    assert (response.status, response.body) == (200, "ok")


def test_a_silent_server_gets_exactly_the_time_limit() -> None:
    with server(silent=100) as port, pytest.raises(StartError, match=r"^did not respond within 1\.5 s$"):
        wait_until_correct("127.0.0.1", port, WORKLOAD, 1.5, lambda: True)


@pytest.mark.parametrize(
    ("head", "hint"),
    [
        ("404 Not Found", "request another path with --path, or change the request with -X and -H"),
        ("302 Found\r\nLocation: /login", "request /login instead, with --path or --url"),
        ("304 Not Modified", "request another path with --path"),
        ("401 Unauthorized", "send credentials with -H 'Authorization: …'"),
        ("500 Internal Server Error", "look for the reason in the server's log"),
    ],
)
def test_the_hint_for_a_status_that_is_no_success_names_options(head: str, hint: str) -> None:
    answer = f"HTTP/1.1 {head}\r\nContent-Length: 0\r\n\r\n".encode()
    status = head.split()[0]
    given = WORKLOAD.model_copy(update={"expect": Expectation(status=None)})
    with server(silent=0, answer=answer) as port, pytest.raises(StartError, match=f"status {status} instead") as found:
        wait_until_correct("127.0.0.1", port, given, 10.0, lambda: True)
    assert found.value.hint == f"{hint}, or measure this response with --expect-status {status}"


def test_a_workload_of_the_catalog_has_no_hint_because_options_cannot_change_it() -> None:
    with server(silent=0, answer=b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") as port, pytest.raises(StartError) as found:
        wait_until_correct("127.0.0.1", port, WORKLOAD, 10.0, lambda: True)
    assert found.value.hint is None
