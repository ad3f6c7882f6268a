"""The contract of a server, checked one clause at a time.

Each check is a function that returns what is wrong, or nothing. What a target declares as a limit is checked as well: a limit that is
not one is as wrong as one that is hidden.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import parsedate_to_datetime

from httpbench.model import Limit, Workload
from httpbench.probe.answer import problems
from httpbench.probe.exchange import ExchangeError
from httpbench.probe.server import Server

PIPELINED = 16
CLOSE_WAIT_S = 1.0


@dataclass(frozen=True, slots=True)
class Check:
    """One clause: its name, what is wrong (``None``: it holds), and the limit that excuses it."""

    name: str
    problem: str | None
    limit: Limit | None = None
    declared: bool = False

    @property
    def passed(self) -> bool:
        """It holds, or it is declared not to, and does not. What is declared to happen now and then may be seen or not."""
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared

    @property
    def text(self) -> str:
        """The outcome as a clause."""
        if self.declared and self.problem is None and self.passed:
            return f"holds this time, although {self.limit} is declared"
        if self.declared:
            return f"does not hold, as declared ({self.limit}): {self.problem}" if self.problem else f"holds, but {self.limit} is declared"
        return self.problem or "holds"


def check_all(host: str, port: int, workload: Workload, limits: tuple[Limit, ...]) -> list[Check]:
    """Every clause, in the order in which a reader cares."""
    server = Server(host, port, workload)
    checks = []
    for name, function, excuses in CLAUSES:
        try:
            problem = function(server)
        except ExchangeError as error:
            problem = str(error)
        except OSError as error:
            problem = f"could not be reached: {error.strerror or error}"
        limit = next((limit for limit in excuses if limit in limits), None)
        checks.append(Check(name, problem, limit, declared=limit is not None))
    return checks


def answers_rightly(server: Server) -> str | None:
    return "; ".join(problems(*server.ask(server.workload.request), server.workload.expect)) or None


def keeps_connection(server: Server) -> str | None:
    with server.connect() as connection:
        for number in range(3):
            connection.send(server.bytes_of())
            answer = connection.receive(server.workload.request.method)
            wrong = problems(answer, b"", server.workload.expect)
            if wrong:
                return f"answer {number + 1} on one connection: {'; '.join(wrong)}"
    return None


def date_moves(server: Server) -> str | None:
    first, _ = server.ask(server.workload.request)
    date = first.header("date")
    if date is None:
        return "no Date header"
    try:
        age_s = abs(time.time() - parsedate_to_datetime(date).timestamp())
    except (TypeError, ValueError):
        return f"Date «{date}» is not an IMF-fixdate"
    if age_s > 2.5:
        return f"Date «{date}» is {age_s:.0f} s off"
    deadline = time.monotonic() + 2.5
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if server.ask(server.workload.request)[0].header("date") != date:
            return None
    return f"Date stands still at «{date}»"


def answers_pipelined(server: Server) -> str | None:
    with server.connect() as connection:
        connection.send(server.bytes_of() * PIPELINED)
        for number in range(PIPELINED):
            try:
                answer = connection.receive(server.workload.request.method)
            except ExchangeError as error:
                return f"answer {number + 1} of {PIPELINED} pipelined: {error}"
            wrong = problems(answer, b"", server.workload.expect)
            if wrong:
                return f"answer {number + 1} of {PIPELINED} pipelined: {'; '.join(wrong)}"
        surplus = connection.surplus()
    return f"{len(surplus)} bytes more than {PIPELINED} answers" if surplus else None


def answers_split(server: Server) -> str | None:
    """The request arrives byte by byte."""
    with server.connect() as connection:
        for byte in server.bytes_of():
            connection.send(bytes([byte]))
            time.sleep(0.0002)  # lets a busy loop read what there is, so that the split is a real one
        try:
            answer = connection.receive(server.workload.request.method)
        except ExchangeError as error:
            return f"a request in single bytes: {error}"
        wrong = problems(answer, connection.surplus(), server.workload.expect)
    return f"a request in single bytes: {'; '.join(wrong)}" if wrong else None


def closes_when_asked(server: Server) -> str | None:
    with server.connect() as connection:
        connection.send(server.bytes_of(("Connection", "close")))
        answer = connection.receive(server.workload.request.method)
        wrong = problems(answer, b"", server.workload.expect)
        if wrong:
            return f"with Connection: close: {'; '.join(wrong)}"
        if not connection.closed_by_peer(CLOSE_WAIT_S):
            return "leaves the connection open after Connection: close"
    return None


def answers_head(server: Server) -> str | None:
    request = server.workload.request.model_copy(update={"method": "HEAD"})
    answer, surplus = server.ask(request)
    if surplus:
        return f"a body of {len(surplus)} bytes in answer to HEAD"
    if answer.status != server.workload.expect.status:
        return f"status {answer.status} in answer to HEAD"
    return None


def refuses_unknown_path(server: Server) -> str | None:
    request = server.workload.request.model_copy(update={"path": "/there/is-nothing/here"})
    answer, _ = server.ask(request)
    return None if answer.status == 404 else f"status {answer.status} for a path that does not exist"


CLAUSES: tuple[tuple[str, Callable[[Server], str | None], tuple[Limit, ...]], ...] = (
    ("answers rightly", answers_rightly, ()),
    ("keeps the connection", keeps_connection, ()),
    ("Date moves", date_moves, ()),
    ("answers pipelined requests in order", answers_pipelined, (Limit.NO_PIPELINING,)),
    ("takes a request split into single bytes", answers_split, (Limit.NO_SPLIT,)),
    ("closes when asked", closes_when_asked, (Limit.NO_CLOSE,)),
    ("answers HEAD without a body", answers_head, (Limit.NO_METHOD, Limit.NO_HEAD)),
    ("answers 404 for an unknown path", refuses_unknown_path, (Limit.NO_ROUTER,)),
)
