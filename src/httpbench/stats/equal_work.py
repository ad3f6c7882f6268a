"""Check that a client did exactly the required work, by the reference server's counters and the client's output.

In a published comparison, the fastest client crashed in every run, another client sent all its requests at once, and a third client made
one request instead of a thousand. The measured times didn't show any of this.
"""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.model import Reason, ReasonKind, WorkDone


@dataclass(frozen=True, slots=True)
class Told:
    """The work that a client must do."""

    requests: int
    body_bytes: int
    """Size of each response body, in bytes."""
    reconnects: bool
    """Whether each request needs a new connection, because the server closes connections after each response or the client declares that it
    doesn't reuse connections."""


def unequal(told: Told, done: WorkDone, printed: str) -> dict[ReasonKind, Reason]:
    """Return the differences between the client's work and the required work, by kind; empty if there are no differences."""
    found: list[Reason] = []
    connections = told.requests if told.reconnects else 1
    body_bytes = told.requests * told.body_bytes
    if done.requests != told.requests:
        found.append(Reason.of(ReasonKind.CLIENT_REQUESTS, sent=done.requests, required=told.requests))
    if done.in_flight_max > 1:
        found.append(Reason.of(ReasonKind.CLIENT_IN_FLIGHT, in_flight_max=done.in_flight_max))
    if done.pipelined:
        found.append(Reason.of(ReasonKind.CLIENT_PIPELINED, pipelined=done.pipelined))
    if done.connections != connections and done.requests:
        found.append(Reason.of(ReasonKind.CLIENT_CONNECTIONS, opened=done.connections, required=connections))
    if done.wrong_requests:
        found.append(Reason.of(ReasonKind.CLIENT_WRONG_REQUESTS, wrong=done.wrong_requests))
    if done.requests == told.requests and not done.wrong_requests and done.body_bytes_sent != body_bytes:
        found.append(Reason.of(ReasonKind.CLIENT_BYTES, received_bytes=done.body_bytes_sent, required_bytes=body_bytes))
    expected = f"{told.requests} {body_bytes}"
    if printed.strip() != expected:
        found.append(Reason.of(ReasonKind.CLIENT_PRINTED, printed=_short(printed), required=expected))
    return {reason.kind: reason for reason in found}


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:60]}…"
