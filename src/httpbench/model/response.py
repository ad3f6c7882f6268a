"""Requests and responses that are stored with a trial."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class SampledResponse(Frozen):
    """A response of a target."""

    status: int
    """Status code."""
    headers: tuple[tuple[str, str], ...]
    """Header fields as pairs of name and value, in the order in which they were sent."""
    body: str
    """Body as text. Only its first 2,000 characters are stored."""
    body_sha256: str | None = None
    """SHA-256 of the whole body. Null: stored by an earlier version."""
    size_bytes: int
    """Size of the response, including headers, in bytes."""


class SampledRequest(Frozen):
    """The head of a client's request."""

    text: str
    """Head of the request, as received."""
