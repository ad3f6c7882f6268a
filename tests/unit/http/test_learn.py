"""Tests that the correct response is learned from three responses."""

from __future__ import annotations

import hashlib
import http.server
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain, repeat

import pytest

from httpbench.http import is_learned, learn, with_status
from httpbench.model import Expectation, Learned, Rule, Workload

OPEN = Workload(name="request", description="A request", expect=Expectation(status=None))
BEFORE = Learned(status=200, content_type="text/plain", body_bytes=1, body_sha256="0" * 64)


@contextmanager
def serving(bodies: Sequence[bytes], status: int = 200) -> Iterator[int]:
    """Start a server that sends these bodies in turn and then repeats the last one. Yield its port."""
    left = chain(bodies, repeat(bodies[-1]))

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = next(left)
            self.send_response(status)
            self.send_header("Content-Type", "text/plain; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_address[1]
        server.shutdown()


def test_three_equal_responses_define_status_type_length_and_body() -> None:
    with serving([b"Hello"]) as port:
        found = learn("127.0.0.1", port, OPEN)
    assert found is not None
    workload, learned = found
    assert learned == Learned(status=200, content_type="text/plain", body_bytes=5, body_sha256=hashlib.sha256(b"Hello").hexdigest())
    assert (workload.expect.status, workload.expect.body, workload.expect.body_bytes) == (200, "Hello", 5)
    assert workload.expect.content_type == "text/plain"


def test_different_bodies_leave_status_and_media_type() -> None:
    with serving([b"1", b"2", b"3"]) as port:
        found = learn("127.0.0.1", port, OPEN, BEFORE)
    assert found is not None
    assert found[1] == Learned(status=200, content_type="text/plain")
    assert (found[0].expect.body, found[0].expect.body_bytes, found[0].expect.status) == (None, None, 200)


def test_a_body_that_varied_in_an_earlier_trial_is_not_checked() -> None:
    with serving([b"Hello"]) as port:
        found = learn("127.0.0.1", port, OPEN, Learned(status=200, content_type="text/plain"))
    assert found is not None
    assert found[1].body_bytes is None


@pytest.mark.parametrize("body", [b"x" * 100_000, b"\xff\xfe"])
def test_long_and_binary_bodies_are_compared_by_hash(body: bytes) -> None:
    with serving([body]) as port:
        found = learn("127.0.0.1", port, OPEN, BEFORE)
    assert found is not None
    assert found[0].expect.body is None
    assert found[0].expect.body_sha256 == hashlib.sha256(body).hexdigest()


def test_nothing_is_learned_from_an_error_response() -> None:
    with serving([b"no"], status=500) as port:
        assert learn("127.0.0.1", port, OPEN, BEFORE) is None


def test_only_open_properties_of_the_workload_are_learned() -> None:
    assert is_learned(OPEN)
    assert not is_learned(Workload(name="a", description="b", expect=Expectation(status=200)))
    assert not is_learned(Workload(name="a", description="b", expect=Expectation(status=None, body="x")))


def test_an_open_status_is_learned() -> None:
    anything = Workload(name="a", description="b", expect=Expectation(status=None, body=""))
    assert with_status(anything, 201).expect.status == 201
    assert with_status(with_status(anything, 201), 200).expect.status == 201


def test_a_body_left_open_by_a_rule_is_learned_if_it_is_always_the_same() -> None:
    def is_learned_by(rule: Rule) -> bool:
        return is_learned(Workload(name="a", description="b", expect=Expectation(status=200, rule=rule)))

    assert [rule for rule in Rule if is_learned_by(rule)] == [Rule.TEXT_MESSAGE, Rule.JSON_MESSAGE, Rule.FORTUNES, Rule.ITEMS]
