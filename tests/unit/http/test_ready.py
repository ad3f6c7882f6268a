"""Tests of waiting until a server responds correctly."""

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
def server(silent: int) -> Iterator[int]:
    """Accept ``silent`` connections without responding, and respond on all later ones. Yield the port."""
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
                    connection.sendall(RESPONSE)

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
