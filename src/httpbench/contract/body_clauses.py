"""Send a request with a body, and then the workload's request on the same connection.

The server must respond to both, or close the connection. A server that doesn't read a body mistakes it for the next request. If a proxy
sends the requests of several clients over one connection, the sender of the body can then insert requests on behalf of other clients
(request smuggling: RFC 9112, section 11.2). The server may give any response to the request with the body.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import NamedTuple

from httpbench.http.response import ExchangeError
from httpbench.http.server import Server

PLAIN = b"name=value"
LATER_S = 0.02
"""Pause after the head, in seconds, so that a server reads the head before the body arrives."""

END_S = 0.5
"""Time limit, in seconds, for the last bytes from the server after the check has finished sending. A server that processes requests in
order closes the connection when it has responded to all of them."""


class WithBody(NamedTuple):
    """A request with a body."""

    words: str
    method: str
    segments: tuple[bytes, ...]
    """Parts of the request: either the whole request, or the head and the body, which are sent with a pause between them."""


def reads_bodies(server: Server) -> str | None:
    """Check the response to a request that is sent on the same connection after the response to a request with a body."""
    return _first_problem(server, pipelined=False)


def reads_bodies_in_a_pipeline(server: Server) -> str | None:
    """Check the response to a request that is sent together with the end of another request's body."""
    return _first_problem(server, pipelined=True)


def _first_problem(server: Server, *, pipelined: bool) -> str | None:
    for request in _requests(server):
        if problem := _problem(server, request, pipelined=pipelined):
            return f"after {request.words}: {problem}"
    return None


def _requests(server: Server) -> Iterator[WithBody]:
    bodies = {"": PLAIN, " that looks like a request": server.request_bytes()}
    for method in dict.fromkeys(("POST", server.workload.request.method)):
        for kind, content in bodies.items():
            stated = server.request_bytes(("Content-Length", str(len(content))), method=method, body="")
            chunked = server.request_bytes(("Transfer-Encoding", "chunked"), method=method, body="")
            framed = {
                f"a body of a stated length{kind}": (stated, content),
                f"a chunked body{kind}": (chunked, b"%x\r\n%s\r\n0\r\n\r\n" % (len(content), content)),
            }
            for words, (head, body) in framed.items():
                yield WithBody(f"{method} with {words}", method, (head + body,))
                yield WithBody(f"{method} with {words}, in a later segment", method, (head, body))


def _problem(server: Server, request: WithBody, *, pipelined: bool) -> str | None:
    with server.connect() as connection:
        try:
            *before, last = request.segments
            for segment in before:
                connection.send(segment)
                time.sleep(LATER_S)
            connection.send(last + server.request_bytes() if pipelined else last)
            connection.receive(request.method)
            response = server.receive(connection) if pipelined else server.ask(connection)
        except ExchangeError as error:
            return None if connection.ended else f"it {error}"
        if problem := server.problem(response):
            return f"the next response is wrong: {problem}"
        surplus = connection.rest(END_S)
    return f"{len(surplus):,} bytes that nothing requested: the server mistook the body for a request" if surplus else None
