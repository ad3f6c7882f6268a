"""Tests that responses are parsed correctly from bytes."""

from __future__ import annotations

import contextlib
import itertools
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from httpbench.http.exchange import Connection, exchange
from httpbench.http.response import ExchangeError
from httpbench.model import Request


@contextmanager
def server(*pieces: bytes, close: bool = True, pause_s: float = 0.0) -> Iterator[int]:
    """Send these pieces on one connection, each in a separate segment."""
    listener = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            connection.recv(65_536)
            with contextlib.suppress(ConnectionError):  # the client may have closed the connection
                for piece in pieces:
                    connection.sendall(piece)
                    time.sleep(pause_s)
            if not close:
                connection.settimeout(5)
                try:
                    connection.recv(1)
                except OSError:
                    return

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield listener.getsockname()[1]
    finally:
        thread.join(10)
        listener.close()


LENGTH = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-Case: a\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nTrailer: z\r\n\r\n"
TO_END = b"HTTP/1.1 200 OK\r\n\r\nhello"


@pytest.mark.parametrize("wire", [LENGTH, CHUNKED, TO_END], ids=["length", "chunked", "to the end"])
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.sets(st.integers(1, 40), max_size=6))
def test_any_split_of_a_response_gives_the_same_response(wire: bytes, cuts: set[int]) -> None:
    edges = [0, *sorted(cut for cut in cuts if cut < len(wire)), len(wire)]
    with server(*(wire[a:b] for a, b in itertools.pairwise(edges))) as port:
        response, surplus = exchange("127.0.0.1", port, Request())
    assert (response.status, response.body, response.size_bytes, surplus) == (200, b"hello", len(wire), b"")


def test_header_names_ignore_case() -> None:
    with server(LENGTH) as port:
        response, _ = exchange("127.0.0.1", port, Request())
    assert response.header("x-case") == "a"
    assert response.header("missing") is None


def test_head_has_no_body() -> None:
    with server(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", close=False) as port:
        response, surplus = exchange("127.0.0.1", port, Request(method="HEAD"))
    assert (response.body, surplus) == (b"", b"")


CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
EARLY_HINTS = b"HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n"


@pytest.mark.parametrize("interim", [CONTINUE, EARLY_HINTS, CONTINUE + EARLY_HINTS + EARLY_HINTS], ids=["100", "103", "100 and 103"])
def test_interim_responses_before_the_final_one_are_ignored(interim: bytes) -> None:
    with server(interim, LENGTH) as port:
        response, surplus = exchange("127.0.0.1", port, Request())
    assert (response.status, response.body, response.size_bytes, surplus) == (200, b"hello", len(LENGTH), b"")


def test_interim_responses_before_each_of_several_are_ignored() -> None:
    with server(CONTINUE + LENGTH + EARLY_HINTS + LENGTH) as port, Connection("127.0.0.1", port) as connection:
        connection.send(b"GET / HTTP/1.1\r\n\r\n" * 2)
        received = connection.everything(0.2, 1.0, "GET")
    assert received.text == "200, 200, then closed"


def test_101_is_a_final_response() -> None:
    with server(b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\n\r\n") as port:
        assert exchange("127.0.0.1", port, Request())[0].status == 101


@pytest.mark.parametrize(
    ("wire", "complaint"),
    [
        (CONTINUE, "closed the connection before it responded"),
        (CONTINUE * 20 + LENGTH, "sent more than 16 interim responses"),
    ],
)
def test_interim_responses_without_a_final_one_are_an_error(wire: bytes, complaint: str) -> None:
    with server(wire) as port, pytest.raises(ExchangeError, match=complaint):
        exchange("127.0.0.1", port, Request())


@pytest.mark.parametrize(
    ("wire", "complaint"),
    [
        (b"", "closed the connection before it responded"),
        (b"HTTP/1.1 200 OK\r\nContent-", "closed the connection before its headers were complete"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello", "Content-Length says 6 bytes, but only 5 arrived"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\nhello", "sent a body of more than 64 MiB"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nfffffffff\r\nhello", "sent a body of more than 64 MiB"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 70_000, "sent an endless line"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: five\r\n\r\nhello", "sent Content-Length `five`, which is not a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: \xb2\r\n\r\nhello", "sent Content-Length `²`, which is not a number"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n", "which is not a number"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "which is not an HTTP/1.1 status line"),
        (b"HTTP/1.1 2000 OK\r\n\r\n", "which is not an HTTP/1.1 status line"),
        (b"HTTP/1.1 2\xb2\xb2 OK\r\n\r\n", "which is not an HTTP/1.1 status line"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "sent `no colon`, which is not a header"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "sent an invalid chunk size, `zz`"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-5\r\nhello\r\n0\r\n\r\n", "sent an invalid chunk size, `-5`"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", "sent a chunk that is longer than its size"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * 70_000, "sent more than 65536 bytes of headers"),
    ],
)
def test_invalid_responses_are_described(wire: bytes, complaint: str) -> None:
    with server(wire) as port, pytest.raises(ExchangeError) as caught:
        exchange("127.0.0.1", port, Request())
    assert complaint in str(caught.value)


def test_silence_is_reported() -> None:
    with server(close=False) as port, pytest.raises(ExchangeError, match=r"did not respond within 0\.2 s"):
        exchange("127.0.0.1", port, Request(), timeout_s=0.2)


@pytest.mark.parametrize(
    ("head", "piece"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"10\r\n" + b"x" * 16 + b"\r\n"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", b"A: b\r\n"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999\r\n\r\n", b"x"),
        (b"HTTP/1.1 200 OK\r\n\r\n", b"x"),
    ],
    ids=["chunks", "a chunk's size", "trailers", "a length", "to the end"],
)
def test_an_endless_response_ends_in_time(head: bytes, piece: bytes) -> None:
    begin = time.monotonic()
    with server(head, *([piece] * 300), pause_s=0.01) as port, pytest.raises(ExchangeError):
        exchange("127.0.0.1", port, Request(), timeout_s=0.3)
    # The server sends for up to 3 s, and notices only while sending that the client has left.
    assert time.monotonic() - begin < 2


def test_bytes_after_the_end_of_a_response_are_surplus() -> None:
    with server(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\nhello") as port:
        response, surplus = exchange("127.0.0.1", port, Request())
    assert (response.status, response.body, surplus) == (404, b"hell", b"o")
