"""Tests that a server may refuse or read a body, but must never mistake it for a request."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from httpbench.http.response import ExchangeError
from httpbench.http.server import Server
from httpbench.model import Expectation, Workload
from httpbench.probe.experiments import body_of_stated_length

HELLO = Workload(name="hello", description="", expect=Expectation(body="Hello"))
PATIENCE_S = 0.2


class FallsSilentAfterPost(socketserver.StreamRequestHandler):
    """A server that responds to GET. It responds to POST with ``status``, and then sends nothing more on that connection."""

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


def test_a_refusal_followed_by_silence_passes() -> None:
    with serving(FallsSilentAfterPost) as port:
        holds, came = body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
    assert holds and came.startswith("405; ")


def test_a_success_followed_by_silence_fails() -> None:
    with serving(ServesAndFallsSilent) as port:
        holds, came = body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
    assert not holds and came.startswith("200; on the next request it did not respond")


def test_the_trait_is_unknown_if_time_runs_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Server, "is_late", True)
    with serving(ServesAndFallsSilent) as port, pytest.raises(ExchangeError):
        body_of_stated_length(Server("127.0.0.1", port, HELLO, PATIENCE_S))
