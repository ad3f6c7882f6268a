"""The results file, which contains all runs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from httpbench.store.copies import Copy
    from httpbench.store.figures import RunFigures, TrialFigures
    from httpbench.store.store import WAYS, RunLine, Store
else:
    from httpbench.lazy import exports

    __getattr__ = exports(__name__)
