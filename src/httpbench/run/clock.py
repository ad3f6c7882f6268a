"""The wall clock, as results state it."""

from __future__ import annotations

from datetime import UTC, datetime


def now() -> str:
    """UTC, ISO 8601, to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
