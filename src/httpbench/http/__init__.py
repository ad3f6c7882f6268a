"""Perform one strict HTTP exchange with a server under test, and check whether the response is correct."""

from __future__ import annotations

from httpbench.http.correct import check, problems, wait_until_correct
from httpbench.http.exchange import ExchangeError, Response, exchange, parsed
from httpbench.http.learn import is_learned, learn, with_status

__all__ = [
    "ExchangeError",
    "Response",
    "check",
    "exchange",
    "is_learned",
    "learn",
    "parsed",
    "problems",
    "wait_until_correct",
    "with_status",
]
