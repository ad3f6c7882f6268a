"""Results on disk."""

from __future__ import annotations

from httpbench.store.figures import RunFigures, TrialFigures
from httpbench.store.store import WAYS, RunLine, Store

__all__ = ["WAYS", "RunFigures", "RunLine", "Store", "TrialFigures"]
