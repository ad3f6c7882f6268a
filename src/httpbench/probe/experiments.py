"""Experiments with requests that a load never sends.

Each experiment is a function that returns whether its trait holds, and the server's reaction. :data:`EXPERIMENTS` describes the requests.
Slow servers aren't penalized. If a response is required, the server may take the whole timeout. If silence may be correct, the experiment
measures how long the server takes for another response, and waits for about twice that time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.http.exchange import Received
from httpbench.http.response import ExchangeError
from httpbench.http.server import PIPELINED, Server, pipelining_problem, splitting_problem
from httpbench.model import Trait

Found = tuple[bool | None, str]
"""Whether the trait holds (``None``: unknown), and the server's reaction."""

UNKNOWN_METHOD = "BREW"
REFUSED = 400
"""Lowest status code that counts as refusing a request."""
LARGE_BYTES = 6144
"""Size of the large header, in bytes: below most default limits (nginx and Node: at least 8 KiB), but larger than a small read buffer."""

HIDDEN = "GET /hidden-in-a-body HTTP/1.1\r\nHost: hidden\r\n\r\n"
"""A body that looks like a request. A server that doesn't read bodies responds to it."""


@dataclass(frozen=True, slots=True)
class Experiment:
    trait: Trait
    sent: str
    conduct: Callable[[Server], Found]


def nonsense(server: Server) -> Found:
    """Send text that isn't a request, but is as long as the usual request and ends with an empty line."""
    length = len(server.request_bytes())
    words = (b"not a request " * (length // 14 + 1))[: length - 4]
    received = _received(server, words + b"\r\n\r\n")
    return not any(server.is_correct(response) for response in received.responses), received.text


def unrequested(server: Server) -> Found:
    with server.connect() as connection:
        early = server.all_on(connection)
        if not early.is_empty:
            return False, f"{early.text}, before the request"
        if early.closed:
            return None, "closed before the request"
        connection.send(server.request_bytes())
        received = server.all_on(connection, expected=True)
    holds = len(received.responses) == 1 and not received.rest
    return holds if received.responses else None, f"nothing, then {received.text}"


def waits(server: Server) -> Found:
    """Send a request in two parts. The first part is padded, so that a server that only counts bytes mistakes it for a whole request."""
    whole = server.request_bytes(padding=64)
    cut = whole.index(b"\r\n\r\n") + 2
    with server.connect() as connection:
        connection.send(whole[:cut])
        early = server.all_on(connection)
        if not early.is_empty:
            return False, f"{early.text}, before the end"
        if early.closed:
            return True, "closed before the end"
        connection.send(whole[cut:])
        response = server.receive(connection)
    return server.is_correct(response), f"nothing before the end, then {response.status}"


def body_of_stated_length(server: Server) -> Found:
    return _body(server, server.request_bytes(("Content-Length", str(len(HIDDEN))), method="POST", body="") + HIDDEN.encode())


def chunked_body(server: Server) -> Found:
    chunks = f"{len(HIDDEN):x}\r\n{HIDDEN}\r\n0\r\n\r\n"
    return _body(server, server.request_bytes(("Transfer-Encoding", "chunked"), method="POST", body="") + chunks.encode())


def head(server: Server) -> Found:
    """Check that no body follows a response to HEAD. A client would mistake a body for the next response (RFC 9110, section 9.3.2)."""
    with server.connect() as connection:
        connection.send(server.request_bytes(method="HEAD"))
        response = connection.receive("HEAD")
        after = server.all_on(connection, "HEAD")
    if not after.is_empty:
        return False, f"{response.status}, and {after.text} after it"
    return True, f"{response.status}, no body"


def method(server: Server) -> Found:
    """Send an unknown method. A server may treat it like any other method, so the result is only informative."""
    received = _received(server, server.request_bytes(method=UNKNOWN_METHOD), expected=True)
    return not any(server.is_correct(response) for response in received.responses), received.text


def split(server: Server) -> Found:
    problem = splitting_problem(server)
    return problem is None, problem or "the correct response"


def pipelined(server: Server) -> Found:
    problem = pipelining_problem(server)
    return problem is None, problem or f"{PIPELINED} correct responses"


def large_headers(server: Server) -> Found:
    received = _received(server, server.request_bytes(padding=LARGE_BYTES), expected=True)
    return len(received.responses) == 1 and not received.rest and server.is_correct(received.responses[0]), received.text


def strict(server: Server) -> Found:
    """Send requests that a server must refuse: RFC 9112, sections 3.2 (no Host), 5.1 (space before a colon), 6.3 (conflicting lengths)."""
    malformed = {
        "without Host": f"GET {server.workload.request.path} HTTP/1.1\r\n\r\n".encode(),
        "with a space before a colon": server.request_bytes(("X-Space ", "1")),
        "with two lengths": server.request_bytes(("Content-Length", "0"), ("Content-Length", "5"), method="POST", body=""),
    }
    received = {name: _received(server, data) for name, data in malformed.items()}
    accepted = [f"{came.text} {name}" for name, came in received.items() if any(response.status < REFUSED for response in came.responses)]
    return not accepted, "; ".join(accepted) or "all refused"


def survives(server: Server) -> Found:
    try:
        with server.connect() as connection:
            correct = server.is_correct(server.ask(connection))
    except (ExchangeError, OSError):
        correct = False
    return correct, "the correct response" if correct else "no correct response"


def _body(server: Server, data: bytes) -> Found:
    """Send a request with a body and then another request.

    The trait holds if the first request gets one response and the second request gets a correct response. It also holds if the server
    refuses the first request and then closes the connection or stays silent. After refusing a request, some servers wait a second for the
    rest of the request before they close the connection.
    """
    with server.connect() as connection:
        connection.send(data)
        received = server.all_on(connection, "POST", expected=True)
        if len(received.responses) > 1 or received.rest:
            return False, f"{received.text}: the server mistook the body for a request"
        if not received.responses:
            return received.closed, received.text
        if received.closed:
            return True, received.text
        try:
            after = server.ask(connection)
        except ExchangeError as error:
            stopped = connection.ended or received.responses[0].status >= REFUSED
            if server.is_late and not stopped:
                raise
            return stopped, f"{received.text}; on the next request it {error}"
    return server.is_correct(after), f"{received.text}, and {after.status} to the next request"


def _received(server: Server, data: bytes, *, expected: bool = False) -> Received:
    """Send bytes on a new connection and return the server's reaction."""
    with server.connect() as connection:
        connection.send(data)
        return server.all_on(connection, expected=expected)


EXPERIMENTS = (
    Experiment(Trait.NONSENSE, "words and an empty line, as long as a request", nonsense),
    Experiment(Trait.UNASKED, "nothing, then a request", unrequested),
    Experiment(Trait.WAITS, "a request without its empty line, which follows after a pause", waits),
    Experiment(Trait.LENGTH, "POST with a Content-Length and a body that looks like a request", body_of_stated_length),
    Experiment(Trait.CHUNKED, "POST with one chunk that looks like a request", chunked_body),
    Experiment(Trait.HEAD, "HEAD", head),
    Experiment(Trait.METHOD, f"a request with the method {UNKNOWN_METHOD}", method),
    Experiment(Trait.SPLIT, "a request in single bytes", split),
    Experiment(Trait.PIPELINED, f"{PIPELINED} requests at once", pipelined),
    Experiment(Trait.LARGE, f"a request with a header of {LARGE_BYTES:,} bytes", large_headers),
    Experiment(Trait.STRICT, "requests without Host, with a space before a colon, with two lengths", strict),
    Experiment(Trait.SURVIVES, "a request", survives),
)
"""All experiments. Those that matter most for the label come first, because experiments are skipped when time runs out."""
