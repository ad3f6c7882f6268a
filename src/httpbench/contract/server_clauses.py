"""Check the contract of a server, clause by clause (:data:`CLAUSES`).

Each check is a function that returns a problem or ``None``. A clause also fails if the target declares a limit that doesn't
apply. Clauses that require the target's process or a load (responses derived from requests, many connections, SIGTERM) are in
``run/server/verify.py``.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime

from httpbench.contract.body_clauses import reads_bodies, reads_bodies_in_a_pipeline
from httpbench.contract.check import Check, Clause
from httpbench.contract.world_clauses import world_clauses
from httpbench.http.response import ExchangeError
from httpbench.http.server import Server, pipelining_problem, splitting_problem
from httpbench.model import Limit, Target, Workload

CLOSE_WAIT_S = 1.0
PIPELINED_TESTS = ("plaintext", "httparena-pipelined")
"""The tests of TechEmpower and HttpArena that pipeline their requests."""
DATE_OFF_S = 2.5
"""Maximum error of a Date header, and maximum time for which it may stay the same, in seconds. Servers update the header once a second, or
less often when busy."""


def check_server(server: Server, limits: tuple[Limit, ...], clauses: tuple[Clause, ...] | None = None) -> list[Check]:
    """Check every clause, the most important first. ``clauses`` defaults to :data:`CLAUSES`."""
    checks = []
    for name, function, excuses in CLAUSES if clauses is None else clauses:
        try:
            problem = function(server)
        except ExchangeError as error:
            problem = str(error)
        except OSError as error:
            problem = f"could not be reached: {error.strerror or error}"
        limit = next((limit for limit in excuses if limit in limits), None)
        checks.append(Check(name, problem, limit, declared=limit is not None, excuses=excuses))
    return checks


def responds_correctly(server: Server) -> str | None:
    return server.problem(*server.exchange())


def keeps_connection(server: Server) -> str | None:
    with server.connect() as connection:
        for number in range(3):
            if problem := server.problem(server.ask(connection)):
                return f"response {number + 1} on one connection: {problem}"
    return None


def updates_date(server: Server) -> str | None:
    date = server.exchange()[0].header("date")
    if date is None:
        return "no Date header"
    try:
        age_s = abs(time.time() - parsedate_to_datetime(date).timestamp())
    except (TypeError, ValueError):
        return f'Date "{date}" is not an IMF-fixdate'
    if age_s > DATE_OFF_S:
        return f'Date "{date}" is {age_s:.0f} s off'
    deadline = time.monotonic() + DATE_OFF_S
    while time.monotonic() < deadline:
        time.sleep(0.1)
        if server.exchange()[0].header("date") != date:
            return None
    return f'Date stays at "{date}"'


def closes_on_request(server: Server) -> str | None:
    with server.connect() as connection:
        connection.send(server.request_bytes(("Connection", "close")))
        if problem := server.problem(server.receive(connection)):
            return f"with Connection: close: {problem}"
        later = connection.everything(CLOSE_WAIT_S, CLOSE_WAIT_S, server.workload.request.method)
        if not later.closed or not later.is_empty:
            return "leaves the connection open after Connection: close"
    return None


def responds_to_head(server: Server) -> str | None:
    response, surplus = server.exchange(method="HEAD")
    if surplus:
        return f"a body of {len(surplus)} bytes for HEAD"
    if response.status != server.workload.expect.status:
        return f"status {response.status} for HEAD"
    return None


def refuses_unknown_path(server: Server) -> str | None:
    response, _ = server.exchange(path="/there/is-nothing/here")
    return None if response.status == 404 else f"status {response.status} for a path that does not exist"


def clauses_for(target: Target, workload: Workload, *, http2: bool = False) -> tuple[Clause, ...]:
    """Return the clauses for a target under a workload. For targets of another project, only that project's rules apply.

    With HTTP/2, the clauses about the syntax and the connections of HTTP/1.1 are left out.
    """
    own = CLAUSES if target.entry is None else tuple(clause for clause in CLAUSES if clause[1] in _published(workload))
    if http2:
        return tuple(clause for clause in own if clause[1] not in OF_HTTP1)
    return own + world_clauses(target, workload)


def _published(workload: Workload) -> tuple[Callable[[Server], str | None], ...]:
    dated = (updates_date,) if "Date" in workload.expect.headers else ()
    pipelined = (pipelining_problem,) if workload.asked in PIPELINED_TESTS else ()
    return (responds_correctly, keeps_connection, *dated, *pipelined)


_NO_PIPELINE_BEHIND_BODIES = (Limit.NO_BODY, Limit.NO_PIPELINING, Limit.NO_BODY_PIPELINING)

CLAUSES: tuple[Clause, ...] = (
    ("responds correctly", responds_correctly, ()),
    ("keeps the connection open", keeps_connection, ()),
    ("updates Date", updates_date, ()),
    ("responds to pipelined requests in order", pipelining_problem, (Limit.NO_PIPELINING,)),
    ("accepts a request in single bytes", splitting_problem, (Limit.NO_SPLIT,)),
    ("reads a body with its request", reads_bodies, (Limit.NO_BODY,)),
    ("responds to a request pipelined behind a body", reads_bodies_in_a_pipeline, _NO_PIPELINE_BEHIND_BODIES),
    ("closes on Connection: close", closes_on_request, (Limit.NO_CLOSE,)),
    ("responds to HEAD without a body", responds_to_head, (Limit.NO_METHOD, Limit.NO_HEAD)),
    ("responds 404 to an unknown path", refuses_unknown_path, (Limit.NO_ROUTER,)),
)
"""The clauses for httpbench's own servers."""

OF_HTTP1 = (
    keeps_connection,
    pipelining_problem,
    splitting_problem,
    reads_bodies,
    reads_bodies_in_a_pipeline,
    closes_on_request,
)
"""The checks that write bytes of HTTP/1.1 on a connection of their own, as those of :func:`world_clauses` do."""
