"""Ambiguous requests: messages that two HTTP programs may read differently, so that one of them sees a request that the other doesn't.

If a proxy forwards such a request as it is, an attacker can hide a request from the proxy (request smuggling: RFC 9112, section 11.2). Each
request is sent to the proxy as raw bytes, and the outcome depends only on the bytes that arrive at the backend.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from httpbench.contract.recording_backend import QUIET_S, RAW, Recorded, RecordingBackend
from httpbench.http.exchange import Connection
from httpbench.http.response import ExchangeError
from httpbench.http.server import Server
from httpbench.model import ProxyOutcome

SILENCE_S = 1.0
"""Time to wait for a response, in seconds. A proxy may wait for bytes that never arrive."""

CHUNKED = b"5\r\nhello\r\n0\r\n\r\n"
OTHER_HOST = "other.test"
FOLD = re.compile(rb"\n[ \t]")
BARE_LF = re.compile(rb"(?<!\r)\n")
BARE_CR = re.compile(rb"\r(?!\n)")
SPACE_BEFORE_COLON = re.compile(rb"\n[^:\r\n]*[ \t]:")
CHUNK = re.compile(rb"([0-9a-fA-F]+)(?:;[^\r\n]*)?\r\n")


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """An ambiguous request."""

    name: str
    """Name, as recorded in ``targets/verified.toml``."""
    words: str
    """Description for readers."""
    section: str
    """Section of RFC 9112, or of the RFC that it names, which says what a recipient must do."""
    fields: tuple[bytes, ...]
    """Header lines with their line ends, in addition to ``Host``."""
    body: bytes
    is_ambiguous: Callable[[Recorded], bool]
    """Function that returns whether a request is still ambiguous when it arrives at the backend."""
    line: str = "POST {path} HTTP/1.1\r\n"

    def bytes_to(self, host: str) -> bytes:
        """Return the request, with this value of ``Host``."""
        return self.line.format(path=f"{RAW}{self.name}").encode() + b"".join(
            (*self.fields, b"Host: %s\r\n\r\n" % host.encode(), self.body)
        )


def ambiguous_outcomes(server: Server, backend: RecordingBackend) -> dict[str, ProxyOutcome]:
    """Send each ambiguous request to a proxy in front of the backend, and return what the proxy did with it, by the request's name."""
    return {each.name: outcome_of(each, _arrived(each, server, backend)) for each in REQUESTS}


def outcome_of(request: Ambiguous, arrived: Sequence[Recorded]) -> ProxyOutcome:
    """Return what a proxy did with an ambiguous request. ``arrived`` contains what arrived at the backend because of this request."""
    if any(request.is_ambiguous(each) for each in arrived):
        return ProxyOutcome.FORWARDED
    return ProxyOutcome.NORMALIZED if any(_is_complete(each) for each in arrived) else ProxyOutcome.REJECTED


def _arrived(request: Ambiguous, server: Server, backend: RecordingBackend) -> list[Recorded]:
    """Send the request to a proxy, and return what arrives at the backend because of it."""
    backend.take()
    try:
        with Connection(server.host, server.port, server.timeout_s, server.transport) as connection:
            connection.send(request.bytes_to(f"{server.host}:{server.port}"))
            connection.everything(QUIET_S, SILENCE_S, "POST")
    except (ExchangeError, OSError):
        pass  # the proxy closed the connection while the request was being sent
    time.sleep(2 * QUIET_S)  # the backend records a request only when no more bytes arrive
    path = f"{RAW}{request.name} ".encode()
    return [each for each in backend.take() if path in each.head]


def _is_complete(request: Recorded) -> bool:
    """Return whether a request's body has arrived completely."""
    if request.field("transfer-encoding") is None:
        length = request.field("content-length") or "0"
        return length.isdigit() and len(request.body) >= int(length)
    at = 0
    while chunk := CHUNK.match(request.body, at):
        size = int(chunk[1], 16)
        if size == 0:
            return request.body.find(b"\r\n", chunk.end()) >= 0
        at = chunk.end() + size + 2
    return False


def _values(request: Recorded, name: str) -> list[str]:
    """Return all values of a field, also those in a comma-separated list."""
    return [value.strip() for key, line in request.fields if key == name for value in line.split(",")]


def _has_two_lengths(request: Recorded) -> bool:
    return request.field("content-length") is not None and request.field("transfer-encoding") is not None


def _has_other_coding(request: Recorded) -> bool:
    return any(value.lower() != "chunked" for value in _values(request, "transfer-encoding")) or _has_several("transfer-encoding")(request)


def _has_several(name: str) -> Callable[[Recorded], bool]:
    return lambda request: len(_values(request, name)) > 1


def _in_head(construct: re.Pattern[bytes]) -> Callable[[Recorded], bool]:
    return lambda request: construct.search(request.head) is not None or _has_two_lengths(request)


def _in_body(construct: re.Pattern[bytes]) -> Callable[[Recorded], bool]:
    return lambda request: request.field("transfer-encoding") is not None and construct.search(request.body) is not None


_CODED, _CODED_LENGTH = b"Transfer-Encoding: chunked\r\n", b"Content-Length: %d\r\n" % len(CHUNKED)
_LENGTH = b"Content-Length: 5\r\n"

REQUESTS = (
    Ambiguous("cl-te", "Content-Length, then Transfer-Encoding: chunked", "6.3", (_CODED_LENGTH, _CODED), CHUNKED, _has_two_lengths),
    Ambiguous(
        "te-cl",
        "Transfer-Encoding: chunked, then a shorter Content-Length",
        "6.3",
        (_CODED, b"Content-Length: 4\r\n"),
        CHUNKED,
        _has_two_lengths,
    ),
    Ambiguous(
        "cl-cl",
        "two different Content-Length fields",
        "6.3",
        (_LENGTH, b"Content-Length: 6\r\n"),
        b"hello!",
        _has_several("content-length"),
    ),
    Ambiguous("cl-list", "Content-Length: 5, 5", "6.3", (b"Content-Length: 5, 5\r\n",), b"hello", _has_several("content-length")),
    Ambiguous(
        "cl-sign",
        "Content-Length: +5",
        "6.2",
        (b"Content-Length: +5\r\n",),
        b"hello",
        lambda request: not (request.field("content-length") or "0").isdigit(),
    ),
    Ambiguous(
        "te-unknown",
        "Transfer-Encoding: xchunked",
        "6.1",
        (b"Transfer-Encoding: xchunked\r\n", _CODED_LENGTH),
        CHUNKED,
        _has_other_coding,
    ),
    Ambiguous(
        "te-not-last",
        "Transfer-Encoding: chunked, identity",
        "6.3",
        (b"Transfer-Encoding: chunked, identity\r\n",),
        CHUNKED,
        _has_other_coding,
    ),
    Ambiguous(
        "te-te",
        "Transfer-Encoding: chunked, then Transfer-Encoding: xchunked",
        "6.3",
        (_CODED, b"Transfer-Encoding: xchunked\r\n"),
        CHUNKED,
        _has_other_coding,
    ),
    Ambiguous(
        "te-1.0",
        "Transfer-Encoding: chunked in HTTP/1.0",
        "6.1",
        (_CODED, b"Connection: keep-alive\r\n"),
        CHUNKED,
        lambda request: request.line[-1] == "HTTP/1.0" and request.field("transfer-encoding") is not None,
        line="POST {path} HTTP/1.0\r\n",
    ),
    Ambiguous(
        "space-colon",
        "Transfer-Encoding : chunked, with a space before the colon",
        "5.1",
        (b"Transfer-Encoding : chunked\r\n", _CODED_LENGTH),
        CHUNKED,
        _in_head(SPACE_BEFORE_COLON),
    ),
    Ambiguous(
        "fold",
        "a field value on two lines (obs-fold)",
        "5.2",
        (b"X-Folded: a\r\n b\r\n", _LENGTH),
        b"hello",
        _in_head(FOLD),
    ),
    Ambiguous(
        "fold-te",
        "Transfer-Encoding: with chunked on the next line",
        "5.2",
        (b"Transfer-Encoding:\r\n chunked\r\n", _CODED_LENGTH),
        CHUNKED,
        _in_head(FOLD),
    ),
    Ambiguous("space-first", "a space before the first field name", "2.2", (b" X-First: a\r\n",), b"", _in_head(FOLD)),
    Ambiguous("lf", "a header line that ends with LF alone", "2.2", (b"X-Bare: a\n", _LENGTH), b"hello", _in_head(BARE_LF)),
    Ambiguous("cr", "CR inside a field value", "2.2", (b"X-Bare: a\rX-Other: b\r\n",), b"", _in_head(BARE_CR)),
    Ambiguous(
        "nul",
        "NUL inside a field value",
        "RFC 9110, 5.5",
        (b"X-Nul: a\0b\r\n",),
        b"",
        lambda request: b"\0" in request.head,
    ),
    Ambiguous("chunk-lf", "a chunk size that ends with LF alone", "7.1", (_CODED,), b"5\nhello\r\n0\r\n\r\n", _in_body(BARE_LF)),
    Ambiguous("chunk-0x", "the chunk size 0x5", "7.1", (_CODED,), b"0x5\r\nhello\r\n0\r\n\r\n", _in_body(re.compile(rb"^0x"))),
    Ambiguous("host-host", "two different Host fields", "3.2", (b"Host: %s\r\n" % OTHER_HOST.encode(),), b"", _has_several("host")),
    Ambiguous(
        "host-target",
        "a target with another host than Host",
        "3.2.2",
        (),
        b"",
        lambda request: request.field("host") != OTHER_HOST,
        line=f"GET http://{OTHER_HOST}{{path}} HTTP/1.1\r\n",
    ),
)
"""All ambiguous requests, in the order of the table in the docs."""
