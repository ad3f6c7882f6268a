"""The container engines of a run."""

from __future__ import annotations

from collections.abc import Iterable

from httpbench.isolate.engine import version as require_engine
from httpbench.isolate.labels import leftovers, remove_leftovers
from httpbench.model import Engine, Target

__all__ = ["engines_of", "leftovers", "remove_leftovers", "require_engine"]


def engines_of(targets: Iterable[Target]) -> list[Engine]:
    """The engines of the targets that run in containers, each once."""
    return list(dict.fromkeys(target.isolation.engine for target in targets if target.isolation is not None))
