"""The state of each target: whether it can be run here, and if not, the fix."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from httpbench import host
from httpbench.model import Target
from httpbench.run.builds import build


class State(StrEnum):
    """Whether a target can be run."""

    READY = "ready"  # nothing to build
    BUILT = "built"
    NOT_BUILT = "not built"  # will be built before its first trial
    MISSING = "missing"  # something that it requires is not installed
    BROKEN = "broken"  # the last build of the current sources failed


@dataclass(frozen=True, slots=True)
class TargetState:
    """The state of a target, with its reason and its fix."""

    state: State
    reason: str | None = None
    fix: str | None = None
    """The command that fixes it."""
    version: str | None = None
    """Of the library, once it is built."""


def states(targets: Sequence[Target]) -> list[TargetState]:
    """In the order of the targets. The versions of programs are read in parallel."""
    host.check_all(list({requirement.label: requirement for target in targets for requirement in target.requires}.values()))
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(state_of, targets))


def unmet(target: Target) -> tuple[str, str] | None:
    """The unmet requirements of a target, in words, and the commands that fix them; ``None`` if all are met."""
    checked = [(requirement, host.check(requirement)) for requirement in target.requires]
    missing = [(requirement, found) for requirement, found in checked if isinstance(found, host.Unmet)]
    if not missing:
        return None
    reasons = "; ".join(f"{requirement.label}: {found.reason}" for requirement, found in missing)
    return reasons, " && ".join(dict.fromkeys(found.fix for _, found in missing))


def state_of(target: Target) -> TargetState:
    if not target.is_declared:
        return TargetState(State.READY)
    missing = unmet(target)
    if missing is not None:
        return TargetState(State.MISSING, *missing)
    known = build.state(target)
    if known.failure:
        return TargetState(State.BROKEN, known.failure.message, f"cat {log}" if (log := build.log_of(target)).exists() else None)
    if known.receipt:
        return TargetState(State.BUILT if target.build.commands else State.READY, version=known.receipt.version)
    if not target.build.commands:
        return TargetState(State.READY)
    return TargetState(State.NOT_BUILT, fix=f"httpbench verify {target.id}")
