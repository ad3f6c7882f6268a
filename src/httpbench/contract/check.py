"""What was found of one clause of a contract, and whether a declared limit excuses it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.http.server import Server
from httpbench.model import Limit, Reason

Clause = tuple[str, Callable[[Server], str | None], tuple[Limit, ...]]
"""Name, check, and the limits that excuse it. The check returns what is wrong, or nothing."""


@dataclass(frozen=True, slots=True)
class Check:
    """One clause: its name, what is wrong (``None``: it holds), and the limit that excuses it."""

    name: str
    problem: str | tuple[Reason, ...] | None
    limit: Limit | None = None
    declared: bool = False

    @property
    def passed(self) -> bool:
        """It holds and no limit is declared, or it fails and one is. A limit that shows now and then passes either way."""
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared
