"""The result of verifying a target's contract, for every kind of target."""

from __future__ import annotations

from dataclasses import dataclass

from httpbench import contract
from httpbench.errors import HttpbenchError
from httpbench.model import Probed, Scaling, Target


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of verifying one target with one scaling."""

    target: Target
    scaling: Scaling
    checks: tuple[contract.Check, ...]
    error: HttpbenchError | None = None
    """Why the verification couldn't be completed."""
    probed: Probed | None = None
    workload: str | None = None
    """Name of the workload. ``None``: a client or a proxy."""

    @property
    def passed(self) -> bool:
        return self.error is None and all(check.passed for check in self.checks)
