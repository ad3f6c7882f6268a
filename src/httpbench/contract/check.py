"""The result of checking one clause of a contract, including whether a declared limit excuses a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.http.server import Server
from httpbench.model import Limit, Reason

Clause = tuple[str, Callable[[Server], str | None], tuple[Limit, ...]]
"""A clause: its name, its check, and the limits that excuse a failure. The check returns a problem or ``None``."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result for one clause: its name, the problem (``None``: the clause holds), and the limit that excuses the problem."""

    name: str
    problem: str | tuple[Reason, ...] | None
    limit: Limit | None = None
    declared: bool = False

    @property
    def passed(self) -> bool:
        """Whether the clause holds and no limit is declared, or the clause fails and a limit that excuses the failure is declared.

        Some limits don't show in every check. If such a limit is declared, the check passes in either case.
        """
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared
