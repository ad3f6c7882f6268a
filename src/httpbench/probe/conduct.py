"""Experiments on how a server treats what a load never sends.

Each is a function that returns whether its trait holds and what came; :data:`EXPERIMENTS` says what is sent. None of them takes slowness
for a fault: where silence is right it is waited out at the server's own pace, and an answer that is due has the whole timeout.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.model import Trait
from httpbench.probe.contract import PIPELINED, answers_pipelined, answers_split
from httpbench.probe.exchange import ExchangeError, Heard
from httpbench.probe.server import Server

Found = tuple[bool | None, str]
"""Whether it holds (``None``: could not be seen), and what came."""

UNKNOWN_METHOD = "BREW"
REFUSED = 400
"""A status from here on takes nothing that was sent for right."""
LARGE_BYTES = 6144
"""Of a header: less than most default limits (nginx and Node: 8 KiB and more; fasthttp: 4 KiB), more than one small read."""

HIDDEN = "GET /hidden-in-a-body HTTP/1.1\r\nHost: hidden\r\n\r\n"
"""A body that a server which does not read it as one takes for a further request."""


@dataclass(frozen=True, slots=True)
class Experiment:
    trait: Trait
    sent: str
    conduct: Callable[[Server], Found]


def nonsense(server: Server) -> Found:
    """As long as the usual request, and with an empty line at its end."""
    length = len(server.bytes_of())
    words = (b"not a request " * (length // 14 + 1))[: length - 4]
    heard = _heard(server, words + b"\r\n\r\n")
    return not any(server.is_right(answer) for answer in heard.answers), heard.text


def unasked(server: Server) -> Found:
    with server.connect() as connection:
        early = server.hears(connection)
        if early.answers or early.rest:
            return False, f"{early.text}, before anything was asked"
        if early.closed:
            return None, "closed before anything was asked"
        connection.send(server.bytes_of())
        heard = server.hears(connection, expected=True)
    holds = len(heard.answers) == 1 and not heard.rest
    return holds if heard.answers else None, f"nothing, then {heard.text}"


def waits(server: Server) -> Found:
    """A request longer than the usual one, so that its first part is as long as a whole one."""
    whole = server.bytes_of(padding=64)
    cut = whole.index(b"\r\n\r\n") + 2
    with server.connect() as connection:
        connection.send(whole[:cut])
        early = server.hears(connection)
        if early.answers or early.rest:
            return False, f"{early.text}, before the end"
        if early.closed:
            return True, "closed before the end"
        connection.send(whole[cut:])
        answer = connection.receive(server.workload.request.method)
    return server.is_right(answer), f"nothing before the end, then {answer.status}"


def body_of_stated_length(server: Server) -> Found:
    return _body(server, server.bytes_of(("Content-Length", str(len(HIDDEN))), method="POST", body="") + HIDDEN.encode())


def chunked_body(server: Server) -> Found:
    chunks = f"{len(HIDDEN):x}\r\n{HIDDEN}\r\n0\r\n\r\n"
    return _body(server, server.bytes_of(("Transfer-Encoding", "chunked"), method="POST", body="") + chunks.encode())


def head(server: Server) -> Found:
    """Whatever the status: a body would be taken for the beginning of the next answer (RFC 9110, section 9.3.2)."""
    with server.connect() as connection:
        connection.send(server.bytes_of(method="HEAD"))
        answer = connection.receive("HEAD")
        behind = server.hears(connection, "HEAD")
    if behind.answers or behind.rest:
        return False, f"{answer.status}, and {behind.text} behind it"
    return True, f"{answer.status}, no body"


def method(server: Server) -> Found:
    """To answer a method that nobody has like any other is allowed, and worth knowing."""
    heard = _heard(server, server.bytes_of(method=UNKNOWN_METHOD), expected=True)
    return not any(server.is_right(answer) for answer in heard.answers), heard.text


def split(server: Server) -> Found:
    problem = answers_split(server)
    return problem is None, problem or "the right answer"


def pipelined(server: Server) -> Found:
    problem = answers_pipelined(server)
    return problem is None, problem or f"{PIPELINED} right answers"


def large_headers(server: Server) -> Found:
    heard = _heard(server, server.bytes_of(padding=LARGE_BYTES), expected=True)
    return len(heard.answers) == 1 and not heard.rest and server.is_right(heard.answers[0]), heard.text


def strict(server: Server) -> Found:
    """What a server must refuse: RFC 9112, sections 3.2 (no Host), 5.1 (a space before the colon), 6.3 (lengths that differ)."""
    malformed = {
        "without Host": f"GET {server.workload.request.path} HTTP/1.1\r\n\r\n".encode(),
        "with a space before a colon": server.bytes_of(("X-Space ", "1")),
        "with two lengths": server.bytes_of(("Content-Length", "0"), ("Content-Length", "5"), method="POST", body=""),
    }
    heard = {name: _heard(server, data) for name, data in malformed.items()}
    taken = [f"{said.text} {name}" for name, said in heard.items() if any(answer.status < 400 for answer in said.answers)]
    return not taken, "; ".join(taken) or "all refused"


def survives(server: Server) -> Found:
    right = server.answers_rightly()
    return right, "the right answer" if right else "not the right answer"


def _body(server: Server, data: bytes) -> Found:
    """One answer, and the next request is understood again; or a refusal, and then an end or silence: some servers wait a second for the
    rest of what they refused before they close."""
    with server.connect() as connection:
        connection.send(data)
        heard = server.hears(connection, "POST", expected=True)
        if len(heard.answers) > 1 or heard.rest:
            return False, f"{heard.text}: also to what stands in the body"
        if not heard.answers:
            return heard.closed, heard.text
        if heard.closed:
            return True, heard.text
        try:
            connection.send(server.bytes_of())
            after = connection.receive(server.workload.request.method)
        except ExchangeError as error:
            stopped = connection.ended or heard.answers[0].status >= REFUSED
            if server.is_late and not stopped:
                raise
            return stopped, f"{heard.text}; to the next request it {error}"
    return server.is_right(after), f"{heard.text}, and {after.status} to the next request"


def _heard(server: Server, data: bytes, *, expected: bool = False) -> Heard:
    """What comes in answer to these bytes, on a connection of their own."""
    with server.connect() as connection:
        connection.send(data)
        return server.hears(connection, expected=expected)


EXPERIMENTS = (
    Experiment(Trait.NONSENSE, "words and an empty line, as long as a request", nonsense),
    Experiment(Trait.UNASKED, "nothing, then a request", unasked),
    Experiment(Trait.WAITS, "a request without its empty line, and that after a pause", waits),
    Experiment(Trait.LENGTH, "POST with a Content-Length, its body a request", body_of_stated_length),
    Experiment(Trait.CHUNKED, "POST with one chunk, its content a request", chunked_body),
    Experiment(Trait.HEAD, "HEAD", head),
    Experiment(Trait.METHOD, f"a request with the method {UNKNOWN_METHOD}", method),
    Experiment(Trait.SPLIT, "a request in single bytes", split),
    Experiment(Trait.PIPELINED, f"{PIPELINED} requests at once", pipelined),
    Experiment(Trait.LARGE, f"a request with a header of {LARGE_BYTES:,} bytes", large_headers),
    Experiment(Trait.STRICT, "requests without Host, with a space before a colon, with two lengths", strict),
    Experiment(Trait.SURVIVES, "a request", survives),
)
"""In the order in which a label needs them, so that what there is no time for is least missed."""
