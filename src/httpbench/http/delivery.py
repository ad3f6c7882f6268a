"""Deliver requests in unusual ways: many at once, or in single bytes. Both the contract and the probe use this.

Each function returns a problem or ``None``.
"""

from __future__ import annotations

import time

from httpbench.http.correct import problems
from httpbench.http.exchange import ExchangeError
from httpbench.http.server import Server

PIPELINED = 16
BYTE_PAUSE_S = 0.0002
"""Lets a busy loop read what it has, so that each byte arrives alone."""


def pipelining_problem(server: Server) -> str | None:
    """Send :data:`PIPELINED` requests at once on one connection."""
    with server.connect() as connection:
        connection.send(server.request_bytes() * PIPELINED)
        for number in range(PIPELINED):
            try:
                response = connection.receive(server.workload.request.method)
            except ExchangeError as error:
                return f"response {number + 1} of {PIPELINED} pipelined: {error}"
            wrong = problems(response, b"", server.workload.expect)
            if wrong:
                return f"response {number + 1} of {PIPELINED} pipelined: {'; '.join(wrong)}"
        surplus = connection.surplus()
    return f"{len(surplus)} bytes after {PIPELINED} responses" if surplus else None


def splitting_problem(server: Server) -> str | None:
    """Send a request byte by byte."""
    with server.connect() as connection:
        for byte in server.request_bytes():
            connection.send(bytes([byte]))
            time.sleep(BYTE_PAUSE_S)
        try:
            response = connection.receive(server.workload.request.method)
        except ExchangeError as error:
            return f"a request in single bytes: {error}"
        wrong = problems(response, connection.surplus(), server.workload.expect)
    return f"a request in single bytes: {'; '.join(wrong)}" if wrong else None
