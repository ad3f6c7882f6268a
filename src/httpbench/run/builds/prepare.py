"""Prepare the targets of a run: check their requirements and build them in parallel."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Event
from typing import TypeVar

from httpbench import host
from httpbench.errors import HttpbenchError, RequirementError
from httpbench.model import Target
from httpbench.run.builds import build, durations
from httpbench.run.builds.image import build_image, is_built
from httpbench.run.builds.states import unmet
from httpbench.run.observer import Observer

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class Built:
    """The build folders of the targets that can be started, and the errors of all other targets, by the names of the builds."""

    folders: dict[str, Path]
    errors: dict[str, HttpbenchError]
    versions: dict[str, str]
    """Versions of the toolchains that were found, by program, and of the libraries that were built, by target id."""


def prepare(targets: Sequence[Target], observer: Observer, parallel_builds: int) -> Built:
    """Check each target's requirements and build the target, beginning with the build that takes longest.

    Failures are recorded in the result instead of raised.
    """
    from concurrent.futures import ThreadPoolExecutor

    built = Built({}, {}, {})
    cancelled = Event()
    with ThreadPoolExecutor(max_workers=parallel_builds) as pool:
        try:
            futures = {each.build_name: pool.submit(_prepare_one, each, observer, cancelled) for each in durations.slowest_first(targets)}
            for target in targets:
                try:
                    state = futures[target.build_name].result()
                except HttpbenchError as error:
                    built.errors[target.build_name] = error
                    continue
                built.folders[target.build_name] = state.folder
                if state.receipt and state.receipt.version:
                    built.versions[target.id] = state.receipt.version
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    built.versions.update(toolchains([target for target in targets if target.isolation is None]))
    return built


def toolchains(targets: Sequence[Target]) -> dict[str, str]:
    """Return the versions of the programs that the targets require."""
    requirements = {requirement.label: requirement for target in targets for requirement in target.requires if requirement.program}
    found = host.check_all(list(requirements.values()))
    return {
        str(requirement.program): outcome.version
        for requirement, outcome in zip(requirements.values(), found, strict=True)
        if isinstance(outcome, host.Met) and outcome.version
    }


def _prepare_one(target: Target, observer: Observer, cancelled: Event) -> build.BuildState:
    """Build one target unless its build is up to date. Raises :class:`HttpbenchError` if it can't be built."""
    if target.entry is not None and target.entry.refusal is not None:
        raise RequirementError(target.entry.refusal)
    if target.entry is not None and target.isolation is None:
        raise RequirementError(
            "it has a Dockerfile but no command, so it runs only in a container",
            hint="add --isolate docker to bench, saturate, up or verify",
        )
    if target.isolation is not None:  # a container requires an image and an engine, but no local build
        if not is_built(target):
            _observed(target, observer, build_image, cancelled)
        return build.BuildState(Path(target.folder))
    if not target.is_declared:
        return build.BuildState(Path(target.folder))
    if missing := unmet(target):
        reasons, fix = missing
        raise RequirementError(f"requires {reasons}", hint=fix)
    state = build.state(target)
    return state if state.receipt else _observed(target, observer, build.build, cancelled)


def _observed(target: Target, observer: Observer, make: Callable[[Target, Event], Made], cancelled: Event) -> Made:
    """Build with ``make`` and report the start and the end of the build to the observer."""
    observer.build_started(target, durations.usual_s(target))
    is_first, begin = not durations.has_files(target), time.monotonic()
    try:
        made = make(target, cancelled)
    except HttpbenchError as error:
        observer.build_ended(target, time.monotonic() - begin, error)
        raise
    seconds = time.monotonic() - begin
    durations.remember(target, seconds, is_first=is_first)
    observer.build_ended(target, seconds, None)
    return made
