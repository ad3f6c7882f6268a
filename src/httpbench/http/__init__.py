"""Perform one strict HTTP exchange with a server under test, and check whether the response is correct."""

from __future__ import annotations

from httpbench.http.correct import check, problems, wait_until_correct
from httpbench.http.exchange import exchange
from httpbench.http.learn import is_learned, learn, with_status
from httpbench.http.response import ExchangeError, Response, parsed
from httpbench.http.transport import PLAIN, Transport

__all__ = [
    "PLAIN",
    "ExchangeError",
    "Response",
    "Transport",
    "check",
    "exchange",
    "is_learned",
    "learn",
    "parsed",
    "problems",
    "wait_until_correct",
    "with_status",
]
