"""The result of verifying a target's contract, for every kind of target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from httpbench import contract
from httpbench.errors import HttpbenchError
from httpbench.isolate import Stopped
from httpbench.model import Probed, ProxyOutcome, Scaling, Target
from httpbench.run.trial.running import STOP_GRACE_S, RunningTarget


@dataclass(frozen=True, slots=True)
class Verified:
    """The result of verifying one target with one scaling."""

    target: Target
    scaling: Scaling
    checks: tuple[contract.Check, ...]
    error: HttpbenchError | None = None
    """Error that ended the verification early, or ``None``."""
    probed: Probed | None = None
    workload: str | None = None
    """Name of the workload, or ``None`` for a client or a proxy."""
    ambiguous: Mapping[str, ProxyOutcome] = field(default_factory=dict)
    """What a proxy in HTTP mode did with each ambiguous request, by the request's name. Empty: not checked."""

    @property
    def passed(self) -> bool:
        return self.error is None and all(check.passed for check in self.checks)


def verified(target: Target, scaling: Scaling, checks: Iterable[contract.Check]) -> Verified:
    """Run the checks of a target and collect their results. An error ends the verification and is part of the result."""
    made: list[contract.Check] = []
    error = None
    try:
        for check in checks:
            made.append(check)  # noqa: PERF402  (if a check raises, the earlier ones are kept)
    except HttpbenchError as caught:
        error = caught
    return Verified(target, scaling, tuple(made), error)


def stays_alive(running: RunningTarget) -> contract.Check:
    """Check that a target hasn't ended by itself."""
    death = running.death()
    return contract.Check("stays alive", f"it ended by itself ({death})" if death else None)


def ends_in_time(stopped: Stopped) -> contract.Check:
    """Check that a target ended in time after SIGTERM."""
    problem = (stopped.problem,) if stopped.problem else None
    return contract.Check(f"ends within {STOP_GRACE_S:g} s of SIGTERM, children included", problem)
