"""Find the state of each target, and the requirements that this machine doesn't meet.

A state shows whether the target can run on this machine and, if not, how to fix the problem.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from httpbench import host
from httpbench.errors import HttpbenchError
from httpbench.model import Requirement, Target
from httpbench.paths import is_built_in
from httpbench.run.builds import build
from httpbench.run.builds.bases import missing_base
from httpbench.run.builds.image import is_built as is_image_built


class State(StrEnum):
    """The possible states of a target."""

    READY = "ready"  # nothing to build
    BUILT = "built"
    NOT_BUILT = "not built"  # will be built before its first trial
    MISSING = "missing"  # a requirement isn't installed
    BROKEN = "broken"  # the last build of the current sources failed
    REFUSED = "refused"  # its catalog entry is invalid, or requires a feature that httpbench lacks


@dataclass(frozen=True, slots=True)
class TargetState:
    """The state of a target, with the reason and the fix."""

    state: State
    reason: str | None = None
    fix: str | None = None
    """Command that fixes the problem or shows its details."""
    version: str | None = None
    """Version of the library, once it is built."""
    unchecked: tuple[str, ...] = ()
    """Requirements whose installed versions weren't checked, because checking them would run a program that a user's manifest names."""


def states(targets: Sequence[Target]) -> list[TargetState]:
    """Return the state of each target, in the same order. The versions of programs are read in parallel."""
    from concurrent.futures import ThreadPoolExecutor

    processes = [target for target in targets if target.isolation is None]
    checked = {each.label: each for target in processes for each in target.requires if not _is_unchecked(target, each)}
    host.check_all(list(checked.values()))
    with ThreadPoolExecutor(max_workers=8) as pool:
        return list(pool.map(state_of, targets))


def unmet(target: Target, check: Callable[[Requirement], host.Met | host.Unmet] = host.check) -> tuple[str, str] | None:
    """Return a description of a target's unmet requirements and the commands that install them, or ``None`` if all are met."""
    checked = [(requirement, check(requirement)) for requirement in target.requires]
    missing = [(requirement, found) for requirement, found in checked if isinstance(found, host.Unmet)]
    if not missing:
        return None
    reasons = "; ".join(f"{requirement.label}: {found.reason}" for requirement, found in missing)
    return reasons, " && ".join(dict.fromkeys(found.fix for _, found in missing))


def _is_unchecked(target: Target, requirement: Requirement) -> bool:
    """Return whether the requirement's program isn't asked for its version, because a user's manifest can name any program."""
    return requirement.program is not None and not is_built_in(target.folder)


def state_of(target: Target) -> TargetState:
    """Return the state of one target, without running any program that a user's manifest names."""
    unasked = [] if target.isolation else [each for each in target.requires if each.version and _is_unchecked(target, each)]
    unchecked = tuple(each.label for each in unasked if isinstance(host.find(each), host.Met))
    return dataclasses.replace(_state_of(target), unchecked=unchecked)


def _state_of(target: Target) -> TargetState:
    if target.entry is not None:
        if (reason := target.entry.refusal) is not None:
            return TargetState(State.REFUSED, reason)
        if target.isolation is None:
            return TargetState(State.NOT_BUILT, fix=f"httpbench verify --isolate docker {target.id}")
    if target.isolation is not None:
        return _state_of_image(target)
    if not target.is_declared:
        return TargetState(State.READY)
    missing = unmet(target, lambda each: host.find(each) if _is_unchecked(target, each) else host.check(each))
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


def _state_of_image(target: Target) -> TargetState:
    """Return the state of a target in a container. Its image requires only an engine and a Dockerfile, no toolchain."""
    assert target.isolation is not None
    dockerfile = Path(target.folder) / target.container.dockerfile
    try:
        if is_image_built(target):
            return TargetState(State.BUILT)
    except HttpbenchError as error:
        return TargetState(State.MISSING, f"{target.isolation.engine}: {error.message}", error.hint)
    if target.isolation.image is None and not dockerfile.is_file():
        return TargetState(State.MISSING, f"a {target.container.dockerfile}", f"write {dockerfile}")
    if missing := missing_base(target):
        return TargetState(State.MISSING, *missing)
    return TargetState(State.NOT_BUILT, fix=f"httpbench verify --isolate {target.isolation.engine} {target.id.partition('@')[0]}")


@dataclass(frozen=True, slots=True)
class Missing:
    """A requirement that isn't met."""

    requirement: Requirement
    reason: str
    fix: str
    """Command that installs the requirement, or a web address if no command does."""
    packages: tuple[str, ...]
    """Debian packages that provide a recent enough version of the requirement. May be empty."""
    required_by: tuple[str, ...]

    @property
    def text(self) -> str:
        """Text such as ``dart ≥ 3.4, for dart/http-server (not found in PATH): https://dart.dev/get-dart``."""
        return f"{self.requirement.label}, for {', '.join(self.required_by)} ({self.reason}): {self.fix}"


def missing_of(requirements: Mapping[str, Sequence[Requirement]]) -> list[Missing]:
    """Return the unmet requirements, without duplicates.

    ``requirements`` maps the name of each target, or of any other item, to its requirements. Each result lists the names of the items that
    have this requirement.
    """
    required_by: dict[Requirement, list[str]] = {}
    for name, required in requirements.items():
        for requirement in required:
            required_by.setdefault(requirement, []).append(name)
    found = []
    for requirement, checked in zip(required_by, host.check_all(list(required_by)), strict=True):
        if isinstance(checked, host.Unmet):
            packages = host.debian_packages(requirement)
            found.append(Missing(requirement, checked.reason, checked.fix, packages, tuple(required_by[requirement])))
    return found


def packages_of(missing: Iterable[Missing]) -> list[str]:
    """Return all packages to install, sorted and without duplicates."""
    return sorted({package for one in missing for package in one.packages})
