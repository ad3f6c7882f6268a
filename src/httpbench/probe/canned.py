"""Find out whether a response depends on the request, or is canned.

A server that is written for a benchmark can be fast without parsing requests: it counts bytes or requests, and sends prepared responses.
This module sends requests of several lengths for the workload's path and an unknown path, in random order. The pattern of responses shows
what the responses depend on:

- If the same path always gets the same response, responses depend on the request (or on nothing, if both paths get the same response).
- If the same length gets the same response, but the same path doesn't, responses depend on the length.
- If identical requests get different responses at different positions, responses depend on the position.

This module can't detect a server that recognizes the load's own request byte for byte and parses all other requests. Its responses look
like those of a server that parses every request.
"""

from __future__ import annotations

import random
import secrets
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from httpbench.http.exchange import Connection
from httpbench.http.response import ExchangeError, Response
from httpbench.http.server import Server
from httpbench.model import Observation, Trait

REPETITIONS = 3
PADDING_MIN, PADDING_MAX = 24, 72
BUSY = ("429", "503")
"""Statuses that a busy server may send. Such responses are ignored, because they may depend on when the request arrives."""

CORRECT = "the correct response"


@dataclass(frozen=True, slots=True)
class Variation:
    """A request for the known path or the unknown path, with one of several lengths."""

    data: bytes
    known: bool
    """Whether the request is for the workload's path."""


@dataclass(frozen=True, slots=True)
class ProbeOutcome:
    """A request and the kind of response that it got."""

    request: Variation
    kind: str
    """Text that is equal for equivalent responses."""


def dependence(server: Server) -> list[Observation]:
    """Observe whether responses depend on the request, and whether they depend on the path."""
    requests = _variations(server)
    usual = _usual(server)
    outcomes = [outcome for outcome in _outcomes(server, requests, usual) if outcome.kind not in BUSY]
    known, unknown = ([outcome for outcome in outcomes if outcome.request.known is side] for side in (True, False))
    lengths = sorted({len(request.data) for request in requests})
    path = server.workload.request.path
    sent = (
        f"{len(requests)} requests in random order: {path} and a path that does not exist, in {len(lengths)} lengths "
        f"({', '.join(map(str, lengths))} bytes)"
    )
    came = f"{path}: {_tally(known)}; unknown path: {_tally(unknown)}"
    if len(known) < REPETITIONS or len(unknown) < REPETITIONS:
        few = f"too few responses: {came}"
        return [Observation(trait=trait, holds=None, sent=sent, came=few) for trait in (Trait.ASKED, Trait.ROUTES)]
    why = other_cause(outcomes)
    holds = None if why is UNEXPLAINED else not why
    depends = Observation(trait=Trait.ASKED, holds=holds, sent=sent, came=f"{why}: {came}" if why else came)
    routes: bool | None = {outcome.kind for outcome in known}.isdisjoint(outcome.kind for outcome in unknown)
    if not holds or (not routes and usual is None and server.workload.expect.body is None):
        routes = None  # if bodies always differ, it is unknown whether they depend on the path
    return [depends, Observation(trait=Trait.ROUTES, holds=routes, sent=sent, came=came)]


UNEXPLAINED = "path, length and position do not explain its responses"


def other_cause(outcomes: Sequence[ProbeOutcome]) -> str | None:
    """Return a clause that explains the differences between responses, or ``None`` if the path explains them."""
    if _explains(outcomes, lambda request: request.known):
        return None
    if _explains(outcomes, lambda request: len(request.data)):
        return "its responses depend on the length of a request, not on its content"
    if not _explains(outcomes, lambda request: request.data):
        return "identical requests get different responses at different positions"
    return UNEXPLAINED


def _explains(outcomes: Sequence[ProbeOutcome], cause: Callable[[Variation], object]) -> bool:
    """Return whether requests with the same value of ``cause`` always got the same kind of response."""
    pairs = {(cause(outcome.request), outcome.kind) for outcome in outcomes}
    return len(pairs) == len({cause for cause, _ in pairs})


def _variations(server: Server) -> list[Variation]:
    """Return requests for both paths in random order, in two lengths each. The greater length is the same for both paths."""
    token = f"/{secrets.token_hex(random.randint(6, 10))}"
    bare, other = server.request_bytes(), server.request_bytes(path=token)
    longer = random.randint(PADDING_MIN, PADDING_MAX)
    long = max(len(bare), len(other)) + longer
    each = [
        Variation(bare, known=True),
        Variation(server.request_bytes(padding=long - len(bare)), known=True),
        Variation(other, known=False),
        Variation(server.request_bytes(path=token, padding=long - len(other)), known=False),
    ]
    requests = each * REPETITIONS
    random.shuffle(requests)
    return requests


def _outcomes(server: Server, requests: Sequence[Variation], usual: bytes | None) -> list[ProbeOutcome]:
    """Send the requests one after another on one connection, and reconnect if the server closes the connection."""
    outcomes = []
    connection: Connection | None = None
    try:
        for request in requests:
            if server.is_late:
                break
            connection, response = _sent(server, connection, request)
            if response is not None:
                outcomes.append(ProbeOutcome(request, _kind(server, response, usual)))
    finally:
        if connection is not None:
            connection.close()
    return outcomes


def _sent(server: Server, connection: Connection | None, request: Variation) -> tuple[Connection | None, Response | None]:
    """Send a request. Returns the connection for the next request, and the response.

    If an existing connection fails, the request is sent again on a new connection, because the server may have closed the existing one.
    """
    for _ in range(2):
        fresh = connection is None
        connection = connection or server.connect()
        try:
            connection.send(request.data)
            return connection, server.receive(connection)
        except ExchangeError:
            connection.close()
            connection = None
            if fresh:
                break
    return None, None


def _usual(server: Server) -> bytes | None:
    """Return the body of the server's correct responses, or ``None`` if bodies differ, for example because they contain the time."""
    with server.connect() as first, server.connect() as second:
        bodies = {server.ask(connection).body for connection in (first, second)}
    return bodies.pop() if len(bodies) == 1 else None


def _kind(server: Server, response: Response, usual: bytes | None) -> str:
    if not server.is_correct(response):
        return str(response.status)
    if usual is None or response.body == usual:
        return CORRECT
    return f"{response.status} with another body"


def _tally(outcomes: Sequence[ProbeOutcome]) -> str:
    counts = Counter(outcome.kind for outcome in outcomes)
    return ", ".join(f"{kind} {count} times" for kind, count in counts.items()) or "no response"
