"""Results on disk."""

from __future__ import annotations

from httpbench.store.store import RunLine, Store, default_path

__all__ = ["RunLine", "Store", "default_path"]
