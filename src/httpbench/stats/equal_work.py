"""Did a client do the required work, and no other? From what the reference server counted and what the client printed.

The fastest client of a published comparison crashed on every run, another one sent all its requests at once, and a third was told to
make a thousand requests and made one. None of that shows in a time.
"""

from __future__ import annotations

from dataclasses import dataclass

from httpbench.model import WorkDone


@dataclass(frozen=True, slots=True)
class Told:
    """The work that a client must do."""

    requests: int
    body_bytes: int
    """Of each response."""
    reconnects: bool
    """Each request requires a connection of its own: the server closes after each response, or the client is declared to keep none."""


def unequal(told: Told, done: WorkDone, printed: str) -> dict[str, str]:
    """What the client did differently, a clause each, by what it is about; empty: it did equal work."""
    found: dict[str, str] = {}
    connections = told.requests if told.reconnects else 1
    body_bytes = told.requests * told.body_bytes
    if done.requests != told.requests:
        found["requests"] = f"sent {_count(done.requests, 'request')} instead of {told.requests:,}"
    if done.in_flight_max > 1:
        found["in flight"] = f"had {done.in_flight_max:,} requests in flight at once instead of one after the other"
    if done.pipelined:
        found["pipelined"] = f"sent {_count(done.pipelined, 'request')} before the previous response had arrived"
    if done.connections != connections and done.requests:
        found["connections"] = f"opened {_count(done.connections, 'connection')} instead of {connections:,}"
    if done.wrong_requests:
        found["wrong"] = f"sent {_count(done.wrong_requests, 'wrong request')} (not GET, another path, or not HTTP)"
    if "requests" not in found and not done.wrong_requests and done.body_bytes_sent != body_bytes:
        found["bytes"] = f"received {done.body_bytes_sent:,} bytes of bodies instead of {body_bytes:,}"
    expected = f"{told.requests} {body_bytes}"
    if printed.strip() != expected:
        found["printed"] = f"printed «{_short(printed)}» instead of «{expected}»"
    return found


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" + ("" if number == 1 else "s")


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:60]}…"
