"""Perform one strict HTTP exchange with a server under test, and check whether the response is correct."""

from __future__ import annotations

from httpbench.http.correct import check, problems, wait_until_correct
from httpbench.http.exchange import exchange
from httpbench.http.learn import in_common, is_learned, learn, learn_each, with_status
from httpbench.http.response import HOP_BY_HOP, ExchangeError, Response, parsed
from httpbench.http.transport import PLAIN, Transport

__all__ = [
    "HOP_BY_HOP",
    "PLAIN",
    "ExchangeError",
    "Response",
    "Transport",
    "check",
    "exchange",
    "in_common",
    "is_learned",
    "learn",
    "learn_each",
    "parsed",
    "problems",
    "wait_until_correct",
    "with_status",
]
