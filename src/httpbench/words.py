"""Sentences in English, of parts that are known only when they are written."""

from __future__ import annotations

from collections.abc import Iterable


def listed(names: Iterable[str]) -> str:
    """``a``; ``a and b``; ``a, b and c``."""
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
