"""Tests that the outcome of an ambiguous request depends on the bytes that arrive at the backend."""

from __future__ import annotations

import pytest

from httpbench.contract.ambiguous import REQUESTS, Ambiguous, outcome_of
from httpbench.contract.recording_backend import HEAD_END, Recorded
from httpbench.model import ProxyOutcome

HOST = "127.0.0.1:8080"
BY_NAME = {request.name: request for request in REQUESTS}


def recorded(data: bytes) -> Recorded:
    end = HEAD_END.search(data)
    assert end is not None
    return Recorded(0, data[: end.end()], data[end.end() :])


def posted(*lines: bytes, body: bytes = b"") -> Recorded:
    head = b"".join(b"%s\r\n" % line for line in (b"POST /ambiguous/x HTTP/1.1", b"Host: other.test", *lines))
    return recorded(head + b"\r\n" + body)


@pytest.mark.parametrize("request_sent", REQUESTS, ids=lambda request: request.name)
def test_a_request_that_arrives_as_it_was_sent_is_forwarded(request_sent: Ambiguous) -> None:
    assert outcome_of(request_sent, [recorded(request_sent.bytes_to(HOST))]) is ProxyOutcome.FORWARDED


@pytest.mark.parametrize("request_sent", REQUESTS, ids=lambda request: request.name)
def test_a_request_that_does_not_arrive_is_rejected(request_sent: Ambiguous) -> None:
    assert outcome_of(request_sent, []) is ProxyOutcome.REJECTED


@pytest.mark.parametrize("request_sent", REQUESTS, ids=lambda request: request.name)
@pytest.mark.parametrize(
    "arrived",
    [
        posted(b"Content-Length: 5", body=b"hello"),
        posted(b"Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n\r\n"),
        posted(b"transfer-encoding: Chunked", body=b"3;a=b\r\nhel\r\n2\r\nlo\r\n0\r\nX-Trailer: 1\r\n\r\n"),
        posted(b"X-Folded: a   b"),
    ],
    ids=["length", "chunked", "two-chunks", "no-body"],
)
def test_a_request_that_arrives_with_one_meaning_is_normalized(request_sent: Ambiguous, arrived: Recorded) -> None:
    assert outcome_of(request_sent, [arrived]) is ProxyOutcome.NORMALIZED


@pytest.mark.parametrize(
    "arrived",
    [
        posted(b"Content-Length: 5", body=b"hell"),
        posted(b"Transfer-Encoding: chunked", body=b"5\r\nhello\r\n"),
        posted(b"Transfer-Encoding: chunked", body=b""),
        posted(b"Transfer-Encoding: chunked", body=b"5\r\nhello\r\n0\r\n"),
    ],
    ids=["length", "no-last-chunk", "nothing", "no-end"],
)
def test_a_request_whose_body_never_becomes_complete_is_rejected(arrived: Recorded) -> None:
    """A proxy that streams bodies notices an invalid chunk when it has already forwarded the head."""
    assert outcome_of(BY_NAME["chunk-0x"], [arrived]) is ProxyOutcome.REJECTED


def test_a_request_that_arrives_in_two_parts_is_forwarded_if_one_is_ambiguous() -> None:
    clean, ambiguous = posted(b"Content-Length: 0"), posted(b"Content-Length: 5", b"Content-Length: 6", body=b"hello!")
    assert outcome_of(BY_NAME["cl-cl"], [clean, ambiguous]) is ProxyOutcome.FORWARDED


def test_names_and_descriptions_are_unique() -> None:
    assert len(BY_NAME) == len(REQUESTS) == len({request.words for request in REQUESTS})
