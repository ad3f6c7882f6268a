"""Read a clone of HttpArena, which has a ``meta.json`` and a ``Dockerfile`` in each ``frameworks/FRAMEWORK`` folder.

Each framework becomes a target, ``language/framework``, that runs in a container and listens on port 8080. Tests that httpbench doesn't
support are left out. The clone's data set, static files and certificates are mounted at the same paths as in HttpArena's own runs.
"""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from httpbench.catalog.files import sentences
from httpbench.catalog.foreign import dockerfile_problems, foreign_target, no_clone, read_json, wrong_entry
from httpbench.errors import CatalogError
from httpbench.model import USUAL_CAPABILITIES, ContainerRecipe, Entry, Target, Tuning
from httpbench.paths import found_inside, inside

NAME = "httparena"
CONFIGURATION, DOCKERFILE, SCRIPT = "meta.json", "Dockerfile", "build.sh"
PORT = 8080
UNKNOWN_LANGUAGE = "unknown"

PATHS = {
    "baseline": (f"{NAME}-baseline", "/baseline11?a=13&b=42"),
    "pipelined": (f"{NAME}-pipelined", "/pipeline"),
    "json": (f"{NAME}-json", "/json/50?m=6"),
}
"""httpbench's workload name and HttpArena's request path for each supported test. All frameworks use the same paths."""

MOUNTS = {"/data/dataset.json": "data/dataset.json", "/data/static": "data/static", "/certs": "certs"}
"""Files and folders to mount: the path in the clone, by the path inside the container."""


class _Type(StrEnum):
    PRODUCTION = "production"  # the usual way to run the framework
    TUNED = "tuned"
    ENGINE = "engine"
    INFRASTRUCTURE = "infrastructure"  # a proxy or a file server


TUNING = {_Type.TUNED: Tuning.TUNED, _Type.ENGINE: Tuning.ENGINE}


class _Meta(BaseModel):
    """The configuration of a framework. Keys that only HttpArena's own program reads are ignored."""

    model_config = ConfigDict(extra="ignore", frozen=True)

    language: str = Field(min_length=1)
    display_name: str | None = None
    type: _Type | None = None
    engine: str | None = None
    description: str | None = None
    repo: str | None = None
    enabled: bool = True
    tests: tuple[str, ...] = Field(min_length=1)


def read(folder: Path) -> list[Target]:
    """Return all targets of a clone, including those with an invalid configuration.

    Raises :class:`CatalogError` if the folder isn't a clone.
    """
    configurations = found_inside(folder, f"frameworks/*/{CONFIGURATION}")
    if not configurations:
        raise no_clone(folder, f"frameworks/FRAMEWORK/{CONFIGURATION}", NAME, "MDA2AV/HttpArena")
    mounts, problems = _mounts(folder.absolute())
    return [_target(path.absolute(), mounts, problems) for path in configurations]


def _mounts(clone: Path) -> tuple[dict[str, str], list[str]]:
    """Return the paths to mount, by the paths inside the container, and the problems with paths that must not be mounted.

    A path that leads out of the clone would expose other files to the container. A mounted socket could let the container control the host.
    """
    mounts, problems = {}, []
    for mounted_at, name in MOUNTS.items():
        if not os.path.lexists(clone / name):
            continue
        try:
            real = inside(clone / name, clone)
        except OSError as error:
            problems.append(f"{name} cannot be mounted: {error.strerror}")
            continue
        if real.is_dir() or real.is_file():
            mounts[mounted_at] = str(real)
        else:
            problems.append(f"{name} cannot be mounted: it is neither a regular file nor a folder")
    return mounts, problems


def _target(path: Path, mounts: dict[str, str], problems_of_mounts: list[str]) -> Target:
    folder, language = path.parent, UNKNOWN_LANGUAGE
    problems = [*dockerfile_problems(folder, DOCKERFILE), *problems_of_mounts]
    known: dict[str, Any] = {}
    try:
        raw = read_json(path)
        if isinstance(given := raw.get("language"), str) and given:
            language = given
        meta = _Meta.model_validate(raw)
    except CatalogError as error:
        problems = [*error.problems, *problems]
    except ValidationError as error:
        problems = [*sentences(_Meta, error), *problems]
    if problems:
        entry = wrong_entry(NAME, folder.name, problems)
    else:
        entry = Entry(
            catalogue=NAME,
            name=folder.name,
            display_name=meta.display_name or folder.name,
            platform=meta.engine or None,
            tests=meta.tests,
            unsupported=_unsupported(folder, meta),
        )
        known = {
            "tuning": TUNING.get(meta.type, Tuning.DEFAULT) if meta.type else Tuning.DEFAULT,
            "upstream": meta.repo if meta.repo and meta.repo.startswith("https://") else None,
            "notes": meta.description or None,
            "paths": dict(PATHS[test] for test in PATHS if test in meta.tests),
            "mounts": mounts,
        }
    recipe = ContainerRecipe(dockerfile=DOCKERFILE, port=PORT, fixed_port=True, capabilities=USUAL_CAPABILITIES)
    return foreign_target(entry, language, folder.name, folder=str(folder), container=recipe, **known)


def _unsupported(folder: Path, meta: _Meta) -> str | None:
    """Return why httpbench can't measure a framework, or ``None`` if it can."""
    if not meta.enabled:
        return f"{NAME} disables this framework"
    if (folder / SCRIPT).is_file():
        return f"its image is built by {SCRIPT}: not supported"
    if not any(test in meta.tests for test in PATHS):
        return f"httpbench supports none of its tests: {', '.join(meta.tests)}"
    return None
