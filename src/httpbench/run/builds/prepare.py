"""Prepare the targets of a run: check their requirements and build several at the same time."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from threading import Event

from httpbench import host
from httpbench.errors import HttpbenchError, RequirementError
from httpbench.model import Entry, Target
from httpbench.run.builds import build
from httpbench.run.builds.image import build_image, is_built
from httpbench.run.builds.states import unmet
from httpbench.run.observer import Observer


@dataclass(frozen=True, slots=True)
class Built:
    """The targets that can be started, and the errors of the others."""

    folders: dict[str, Path]
    errors: dict[str, HttpbenchError]
    versions: dict[str, str]
    """Versions of the toolchains found and of the libraries built."""


def prepare(targets: Sequence[Target], observer: Observer, parallel_builds: int) -> Built:
    """Check each target's requirements and build it. Failures are part of the result, not exceptions."""
    built = Built({}, {}, {})
    cancelled = Event()
    with ThreadPoolExecutor(max_workers=parallel_builds) as pool:
        try:
            results = list(pool.map(lambda target: _prepare_one(target, observer, cancelled), targets))
        except BaseException:
            cancelled.set()
            pool.shutdown(cancel_futures=True)
            raise
    for target, result in zip(targets, results, strict=True):
        if isinstance(result, HttpbenchError):
            built.errors[target.id] = result
            continue
        built.folders[target.id] = result.folder
        if result.receipt and result.receipt.version:
            built.versions[target.id] = result.receipt.version
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


def _prepare_image(target: Target, observer: Observer, cancelled: Event) -> build.BuildState | HttpbenchError:
    """Build the image in place of the target. It requires only the engine."""
    folder = Path(target.folder)
    try:
        if is_built(target):
            return build.BuildState(folder, None, None)
    except HttpbenchError as error:
        return error
    return _observed(target, observer, lambda: _image_built(target, folder, cancelled))


def _image_built(target: Target, folder: Path, cancelled: Event) -> build.BuildState:
    build_image(target, cancelled)
    return build.BuildState(folder, None, None)


def _prepare_one(target: Target, observer: Observer, cancelled: Event) -> build.BuildState | HttpbenchError:
    if target.entry is not None and (refusal := _refusal(target, target.entry)) is not None:
        return refusal
    if target.isolation is not None:
        return _prepare_image(target, observer, cancelled)
    if not target.is_declared:
        return build.BuildState(Path(target.folder), None, None)
    missing = unmet(target)
    if missing is not None:
        reasons, fix = missing
        return RequirementError(f"requires {reasons}", hint=fix)
    state = build.state(target)
    if state.is_built:
        return state
    return _observed(target, observer, lambda: build.build(target, cancelled))


def _refusal(target: Target, entry: Entry) -> RequirementError | None:
    """Return the reason why a target from another project's catalog can't be built, or ``None``."""
    if entry.refusal is not None:
        return RequirementError(entry.refusal)
    if target.isolation is None:
        return RequirementError(
            "it has a Dockerfile but no command, so it runs only in a container",
            hint="add --isolate docker to bench, saturate, up or verify",
        )
    return None


def _observed(target: Target, observer: Observer, make: Callable[[], build.BuildState]) -> build.BuildState | HttpbenchError:
    """Build with ``make`` and report the start and the end of the build to the observer."""
    observer.build_started(target)
    begin = time.monotonic()
    try:
        state = make()
    except HttpbenchError as error:
        observer.build_ended(target, time.monotonic() - begin, error)
        return error
    observer.build_ended(target, time.monotonic() - begin, None)
    return state
