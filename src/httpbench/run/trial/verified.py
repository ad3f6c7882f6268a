"""What a check of a target's contract found, for every kind of target."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench import contract
from httpbench.errors import HttpbenchError
from httpbench.model import Probed, Scaling, Target


@dataclass(frozen=True, slots=True)
class Verified:
    """What was found of one target in one way to scale."""

    target: Target
    scaling: Scaling
    checks: tuple[contract.Check, ...]
    error: HttpbenchError | None = None
    """Why it could not be checked to the end."""
    probed: Probed | None = None
    workload: str | None = None
    """Name of the workload; ``None``: of a client or a proxy."""

    @property
    def passed(self) -> bool:
        return self.error is None and all(check.passed for check in self.checks)
