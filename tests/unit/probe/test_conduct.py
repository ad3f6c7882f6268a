"""What a server does with a body: refused or read, it is never taken for a request."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from httpbench.model import Expectation, Workload
from httpbench.probe.conduct import body_of_stated_length
from httpbench.probe.exchange import ExchangeError
from httpbench.probe.server import Server

HELLO = Workload(name="hello", description="", expect=Expectation(body="Hello"))
PATIENCE_S = 0.2


class FallsSilentAfterPost(socketserver.StreamRequestHandler):
    """Answers GET; answers POST with a status, and then nothing more on that connection."""

    status = b"405 Method Not Allowed"

    def handle(self) -> None:
        while line := self.rfile.readline():
            while self.rfile.readline().strip():
                pass
            if line.startswith(b"POST"):
                self.wfile.write(b"HTTP/1.1 " + self.status + b"\r\nContent-Length: 0\r\n\r\n")
                self.rfile.read()
                return
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nHello")


class ServesAndFallsSilent(FallsSilentAfterPost):
    status = b"200 OK"


@contextmanager
def serving(handler: type[socketserver.BaseRequestHandler]) -> Iterator[int]:
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        try:
            yield server.server_address[1]
        finally:
            server.shutdown()


def test_a_refusal_after_which_nothing_is_answered_took_no_body_for_a_request() -> None:
    with serving(FallsSilentAfterPost) as port:
        holds, came = body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
    assert holds and came.startswith("405; ")


def test_an_answer_after_which_nothing_is_answered_lost_its_place() -> None:
    with serving(ServesAndFallsSilent) as port:
        holds, came = body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
    assert not holds and came.startswith("200; to the next request it did not answer")


def test_where_the_time_was_over_nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "is_late", True)
    with serving(ServesAndFallsSilent) as port, pytest.raises(ExchangeError):
        body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
