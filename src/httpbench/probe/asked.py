"""Does an answer depend on what was asked, or on something else?

A server that knows its benchmark can be fast without reading: it counts bytes, or requests, and answers as they come. So one known and
one unknown path are asked in several lengths and in an order that nobody can foresee. What then explains the answers is what they are
made from:

- the same path gets the same answer throughout: what was asked (or nothing, if both get the same);
- the same length gets the same answer, and paths do not: the length;
- the very same bytes get different answers at different places: the position.

A server that recognises the load's own request byte for byte and parses all others is not told apart from one that parses them all:
both answer what was asked.
"""

from __future__ import annotations

import random
import secrets
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from httpbench.model import Observation, Trait
from httpbench.probe.exchange import Answer, Connection, ExchangeError
from httpbench.probe.server import Server

REPETITIONS = 3
PADDING_MIN, PADDING_MAX = 24, 72
BUSY = ("429", "503")
"""Answers that depend on time by right."""

USUAL = "the right answer"


@dataclass(frozen=True, slots=True)
class Question:
    data: bytes
    known: bool
    """Whether the path is that of the workload."""


@dataclass(frozen=True, slots=True)
class Reply:
    question: Question
    kind: str
    """Alike answers have the same one."""


def ask_in_disguise(server: Server) -> list[Observation]:
    """Whether it answers what was asked, and whether by path: two observations."""
    questions = _questions(server)
    usual = _usual(server)
    replies = [reply for reply in _replies(server, questions, usual) if reply.kind not in BUSY]
    known, unknown = ([reply for reply in replies if reply.question.known is side] for side in (True, False))
    lengths = sorted({len(question.data) for question in questions})
    sent = (
        f"{len(questions)} requests in random order: {_path(server)} and a path that does not exist, in {len(lengths)} lengths "
        f"({', '.join(map(str, lengths))} bytes)"
    )
    came = f"{_path(server)}: {_tally(known)}; unknown path: {_tally(unknown)}"
    if len(known) < REPETITIONS or len(unknown) < REPETITIONS:
        return [Observation(trait=trait, holds=None, sent=sent, came=f"too few answers: {came}") for trait in (Trait.ASKED, Trait.ROUTES)]
    why = not_by_question(replies)
    holds = None if why is UNEXPLAINED else not why
    asked = Observation(trait=Trait.ASKED, holds=holds, sent=sent, came=f"{why}: {came}" if why else came)
    routes: bool | None = {reply.kind for reply in known}.isdisjoint(reply.kind for reply in unknown)
    if not holds or (not routes and usual is None and server.workload.expect.body is None):
        routes = None  # bodies that differ each time may or may not be those of two paths
    return [asked, Observation(trait=Trait.ROUTES, holds=routes, sent=sent, came=came)]


UNEXPLAINED = "neither what was asked nor its length nor its place explains the answers"


def not_by_question(replies: Sequence[Reply]) -> str | None:
    """What else explains the answers; nothing where the question does."""
    if _explains(replies, lambda question: question.known):
        return None
    if _explains(replies, lambda question: len(question.data)):
        return "its answers follow from the length of a request, not from what it asks"
    if not _explains(replies, lambda question: question.data):
        return "the very same request gets different answers at different places"
    return UNEXPLAINED


def _explains(replies: Sequence[Reply], cause: Callable[[Question], object]) -> bool:
    """Whether replies with the same cause are all alike."""
    kinds = defaultdict(set)
    for reply in replies:
        kinds[cause(reply.question)].add(reply.kind)
    return all(len(alike) == 1 for alike in kinds.values())


def _questions(server: Server) -> list[Question]:
    """Both paths, each in two lengths; one length is the same for both."""
    token = f"/{secrets.token_hex(random.randint(6, 10))}"
    bare, other = server.bytes_of(), server.bytes_of(path=token)
    longer = random.randint(PADDING_MIN, PADDING_MAX)
    long = max(len(bare), len(other)) + longer
    cells = [
        Question(bare, known=True),
        Question(server.bytes_of(padding=long - len(bare)), known=True),
        Question(other, known=False),
        Question(server.bytes_of(path=token, padding=long - len(other)), known=False),
    ]
    questions = cells * REPETITIONS
    random.shuffle(questions)
    return questions


def _replies(server: Server, questions: Sequence[Question], usual: bytes | None) -> list[Reply]:
    """One after the other on one connection; on a new one where the server closes it."""
    replies = []
    connection: Connection | None = None
    try:
        for question in questions:
            if server.is_late:
                break
            connection, answer = _asked(server, connection, question)
            if answer is not None:
                replies.append(Reply(question, _kind(server, answer, usual)))
    finally:
        if connection is not None:
            connection.close()
    return replies


def _asked(server: Server, connection: Connection | None, question: Question) -> tuple[Connection | None, Answer | None]:
    """The answer, and the connection to go on with. A kept connection may have been closed since, so it has a second chance."""
    for _ in range(2):
        fresh = connection is None
        connection = connection or server.connect()
        try:
            connection.send(question.data)
            return connection, connection.receive(server.workload.request.method)
        except ExchangeError:
            connection.close()
            connection = None
            if fresh:
                break
    return None, None


def _usual(server: Server) -> bytes | None:
    """The body of its right answers; ``None`` where they differ, as with a time in them."""
    with server.connect() as first, server.connect() as second:
        bodies = set()
        for connection in (first, second):
            connection.send(server.bytes_of())
            bodies.add(connection.receive(server.workload.request.method).body)
    return bodies.pop() if len(bodies) == 1 else None


def _kind(server: Server, answer: Answer, usual: bytes | None) -> str:
    if not server.is_right(answer):
        return str(answer.status)
    if usual is None or answer.body == usual:
        return USUAL
    return f"{answer.status} with another body"


def _tally(replies: Sequence[Reply]) -> str:
    counts: dict[str, int] = defaultdict(int)
    for reply in replies:
        counts[reply.kind] += 1
    return ", ".join(f"{kind} {count} times" for kind, count in counts.items()) or "no answer"


def _path(server: Server) -> str:
    return server.workload.request.path
