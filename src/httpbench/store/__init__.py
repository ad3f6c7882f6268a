"""The results file, which contains all runs."""

from __future__ import annotations

from httpbench.store.copies import Copy
from httpbench.store.figures import RunFigures, TrialFigures
from httpbench.store.store import WAYS, RunLine, Store

__all__ = ["WAYS", "Copy", "RunFigures", "RunLine", "Store", "TrialFigures"]
