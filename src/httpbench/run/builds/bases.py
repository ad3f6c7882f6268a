"""The base images of a target's Dockerfile, and whether they are available."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from httpbench.errors import ContainerError
from httpbench.isolate import engine as command_line
from httpbench.isolate import image as images
from httpbench.model import Engine, Target
from httpbench.paths import is_built_in, read_small
from httpbench.run.builds import dockerfile

REGISTRY = "HTTPBENCH_REGISTRY"
"""Environment variable that names a registry mirror. Every Dockerfile with the argument ``REGISTRY`` uses the mirror."""
FEATURES = "FEATURES"
"""Build argument with the features to compile, separated by commas. Every Dockerfile of a target with features has it."""
ASK_LIMIT_S = 20.0


def arguments(target: Target) -> dict[str, str]:
    """Return the build arguments for the target's Dockerfile.

    Their values come from the target's recipe, its features and :data:`REGISTRY`.
    """
    recipe, registry = target.container, os.environ.get(REGISTRY)
    features = {FEATURES: ",".join(target.features)} if target.build.features else {}
    given = {**({"BASE": recipe.base} if recipe.base else {}), **features, **recipe.build_args}
    return {**given, "REGISTRY": registry} if registry and "REGISTRY" in dockerfile.arguments(dockerfile_of(target), {}) else given


def stages_of(target: Target) -> list[dockerfile.BuildStage]:
    """Return the stages of the target's Dockerfile, or an empty list if it has none."""
    return dockerfile.stages(dockerfile_of(target), arguments(target))


def bases(target: Target) -> list[str]:
    """Return the distinct names of the images that the target's Dockerfile requires, without the Dockerfile's own stages."""
    return dockerfile.images(stages_of(target))


@dataclass(frozen=True, slots=True)
class Base:
    """A base image, with the targets that use it."""

    image: str
    is_here: bool
    """Whether the image is on this machine."""
    targets: tuple[str, ...]
    """Ids of the targets whose Dockerfiles use the image."""


def bases_of(targets: Iterable[Target], engine: Engine) -> list[Base]:
    """Return the base images of all targets, most used first, without querying a registry.

    Raises :class:`ContainerError` if the engine doesn't respond.
    """
    here = images.names(engine)
    required_by: dict[str, list[str]] = {}
    for target in targets:
        for image in bases(target):
            required_by.setdefault(images.familiar(image), []).append(target.id)
    found = [Base(image, image in here, tuple(ids)) for image, ids in required_by.items()]
    return sorted(found, key=lambda base: (-len(base.targets), base.image))


def missing_base(target: Target) -> tuple[str, str] | None:
    """Return a description of the first invalid or unavailable base image and how to fix the problem, or ``None`` if there is no problem.

    Registries are queried only for built-in targets. Any other Dockerfile can refer to arbitrary hosts, which must not be contacted
    before the user starts a build.
    """
    assert target.isolation is not None
    engine = target.isolation.engine
    for base in bases(target):
        if not dockerfile.IMAGE_NAME.fullmatch(base):
            return f'"{base}" is not the name of an image', f"correct {target.folder}/{target.container.dockerfile}"
        if is_built_in(target.folder) and not _can_be_had(engine, base):
            return f"base image {base}: not on this machine, and its registry does not provide it", f"{engine} pull {base}"
    return None


@cache
def _can_be_had(engine: Engine, image: str) -> bool:
    if images.image_id(engine, image):
        return True
    try:
        command_line.ask(engine, "manifest", "inspect", image, timeout_s=ASK_LIMIT_S)
    except ContainerError:
        return False
    return True


def dockerfile_of(target: Target) -> str:
    """Return the text of the target's Dockerfile, or an empty string if it can't be read."""
    try:
        return read_small(Path(target.folder) / target.container.dockerfile, Path(target.folder))
    except (OSError, UnicodeDecodeError):
        return ""
