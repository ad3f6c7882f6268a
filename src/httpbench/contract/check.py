"""The result of checking one clause of a contract, including the limit that can excuse a failure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from httpbench.http.server import Server
from httpbench.model import Limit, Reason

Clause = tuple[str, Callable[[Server], str | None], tuple[Limit, ...]]
"""A clause: its name, its check, and the limits that excuse a failure. The check returns a problem or ``None``."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of checking one clause. The problem is ``None`` if the clause holds. A declared ``limit`` excuses the problem."""

    name: str
    problem: str | tuple[Reason, ...] | None
    limit: Limit | None = None
    declared: bool = False

    @property
    def passed(self) -> bool:
        """Whether the result agrees with the target's declared limits.

        The clause must hold if no limit is declared, and fail if a limit that excuses the failure is declared. If the declared limit
        doesn't show in every check, the clause may hold or fail.
        """
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared
