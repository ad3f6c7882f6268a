"""The result of checking one clause of a contract, including whether a declared limit excuses a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.http.server import Server
from httpbench.model import Limit

Clause = tuple[str, Callable[[Server], str | None], tuple[Limit, ...]]
"""Name, check, and the limits that excuse a failure. The check returns a problem or ``None``."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result for one clause: its name, the problem (``None``: it holds), and the limit that excuses it."""

    name: str
    problem: str | None
    limit: Limit | None = None
    declared: bool = False

    @property
    def passed(self) -> bool:
        """Whether the clause holds without a declared limit, or fails with one. A limit that shows only sometimes passes either way."""
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared

    @property
    def text(self) -> str:
        """The outcome as a clause."""
        if self.declared and self.problem is None and self.passed:
            return f"holds this time, although {self.limit} is declared"
        if self.declared:
            return f"does not hold, as declared ({self.limit}): {self.problem}" if self.problem else f"holds, but {self.limit} is declared"
        return self.problem or "holds"
