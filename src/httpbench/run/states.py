"""The state of a row: can it be run here, and if not, what would mend it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum

from httpbench import host
from httpbench.manifests import is_built_in
from httpbench.model import Requirement, Target
from httpbench.run import build


class State(StrEnum):
    READY = "ready"  # nothing to build
    BUILT = "built"
    NOT_BUILT = "not built"  # will be built when it is run
    NEEDS = "needs"
    BROKEN = "broken"  # the last build of these very sources failed


@dataclass(frozen=True, slots=True)
class RowState:
    state: State
    reason: str | None = None
    mend: str | None = None
    """The command that would mend it."""
    version: str | None = None
    """Of what the row stands for, once it is built."""
    unchecked: tuple[str, ...] = ()
    """Requirements whose version would take a command of a folder that is not ours: looking at a row does not run it."""


def states(targets: Sequence[Target]) -> list[RowState]:
    """In the order of the targets. Programs are asked for their versions side by side."""
    asked = {each.label: each for target in targets for each in target.requires if not _is_unchecked(target, each)}
    host.check_all(list(asked.values()))
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(state_of, targets))


def needs(target: Target) -> tuple[str, str] | None:
    """What of its requirements is not here, in words, and the commands that would mend it; ``None`` when all is here."""
    return _needs(target, host.check)


def _needs(target: Target, check: Callable[[Requirement], host.Met | host.Unmet]) -> tuple[str, str] | None:
    unmet = [(needed, found) for needed in target.requires if isinstance(found := check(needed), host.Unmet)]
    if not unmet:
        return None
    reasons = "; ".join(f"{needed.label}: {found.reason}" for needed, found in unmet)
    return reasons, " && ".join(dict.fromkeys(found.mend for _, found in unmet))


def _is_unchecked(target: Target, requirement: Requirement) -> bool:
    return requirement.version_command is not None and not is_built_in(target.folder)


def state_of(target: Target) -> RowState:
    unchecked = tuple(each.label for each in target.requires if _is_unchecked(target, each))
    return dataclasses.replace(_state_of(target), unchecked=unchecked)


def _state_of(target: Target) -> RowState:
    if not target.is_declared:
        return RowState(State.READY)
    missing = _needs(target, lambda each: host.find(each) if _is_unchecked(target, each) else host.check(each))
    if missing is not None:
        return RowState(State.NEEDS, *missing)
    known = build.state(target)
    if known.failure:
        return RowState(State.BROKEN, known.failure.message, f"cat {log}" if (log := build.log_of(target)).exists() else None)
    if known.receipt:
        return RowState(State.BUILT if target.build.commands else State.READY, version=known.receipt.version)
    if not target.build.commands:
        return RowState(State.READY)
    return RowState(State.NOT_BUILT, mend=f"httpbench verify {target.id}")
