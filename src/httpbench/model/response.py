"""A request and its response, as they were sent."""

from __future__ import annotations

from httpbench.model.frozen import Frozen


class SampledResponse(Frozen):
    """One response of a target."""

    status: int
    """Status code."""
    headers: tuple[tuple[str, str], ...]
    """Header fields in order, as name and value."""
    body: str
    """The body, as text; its first 2,000 characters if stored."""
    body_sha256: str | None = None
    """SHA-256 of the whole body. Null: stored by an earlier version."""
    size_bytes: int
    """Header block and body, in bytes."""


class SampledRequest(Frozen):
    """The head of one request of a client, as it came."""

    text: str
    """The head of the request, as it came."""
