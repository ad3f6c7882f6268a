"""The result of checking one clause of a contract, including the limit that can excuse a failure."""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
    excuses: tuple[Limit, ...] = ()
    """The limits that excuse a failure, the narrowest last."""

    @property
    def passed(self) -> bool:
        """Whether the result agrees with the target's declared limits.

        The clause must hold if no limit is declared, and fail if a limit that excuses the failure is declared. If the declared limit
        doesn't show in every check, the clause may hold or fail.
        """
        if self.declared and self.limit is not None and not self.limit.shows_always:
            return True
        return (self.problem is None) != self.declared


def limits_to_declare(declared: Sequence[Limit], checks: Sequence[Check]) -> tuple[Limit, ...]:
    """Return the limits that a target must declare, so that each of these checks passes that a limit can excuse.

    Limits that none of the checks covers are kept. Of several limits that would do, one that is declared is chosen, else the narrowest.
    """
    covered = {limit for check in checks for limit in check.excuses}
    contradicted = {limit for check in checks for limit in check.excuses if check.problem is None and limit.shows_always}
    found = [limit for limit in declared if limit not in covered or not limit.shows_always]
    for check in sorted((check for check in checks if check.problem is not None), key=lambda check: len(check.excuses)):
        possible = [limit for limit in check.excuses if limit not in contradicted]
        if possible and not any(limit in found for limit in possible):
            found.append(next((limit for limit in possible if limit in declared), possible[-1]))
    return tuple(sorted(found, key=lambda limit: (limit not in declared, list(Limit).index(limit))))
