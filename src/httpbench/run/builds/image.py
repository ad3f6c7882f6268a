"""Build a target's image from its Dockerfile, unless an image of the current sources exists.

An image's tag is a fingerprint of the target's sources and recipe. An image with this tag is therefore up to date and needs no receipt.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shlex
import time
from collections import defaultdict
from pathlib import Path
from threading import Event, Lock

from httpbench.errors import BuildError, ContainerError
from httpbench.host import inherited
from httpbench.isolate import Command
from httpbench.isolate import engine as command_line
from httpbench.isolate import image as images
from httpbench.isolate.labels import TARGET
from httpbench.model import Engine, Target
from httpbench.paths import read_foreign
from httpbench.run.builds.bases import FEATURES, arguments, dockerfile_of
from httpbench.run.builds.build import cache_folder, hash_of, run_logged

IGNORED = ("__pycache__", ".git")
DECLARATION = re.compile(r"^[ \t]*ARG[ \t]+([A-Za-z_][A-Za-z0-9_]*)", re.MULTILINE | re.IGNORECASE)
"""Pattern that matches an ``ARG`` line and captures the name of the variable."""
_LOCKS: defaultdict[str, Lock] = defaultdict(Lock)


def image_of(target: Target) -> str:
    """Return the name of a target's image: the image that the user specified or the one built from the current sources.

    Raises :class:`BuildError` if the sources can't be read.
    """
    assert target.isolation is not None
    if target.isolation.image is not None:
        return target.isolation.image
    try:
        digest = hash_of(Path(target.folder), target.container.model_dump_json() + json.dumps(arguments(target)), IGNORED)
    except OSError as error:
        raise BuildError(f"its sources cannot be read: {error.strerror}: {error.filename}") from None
    host = "localhost/" if target.isolation.engine is Engine.PODMAN else ""  # without this prefix, podman would search registries
    return f"{host}{_repository(target)}:{digest[:12]}"


def build_command(target: Target, image: str) -> tuple[str, ...]:
    """Return the command line that builds the image. Declared environment variables are passed without their values."""
    given, declared = arguments(target), dict.fromkeys(DECLARATION.findall(dockerfile_of(target)))
    passed = [name for name in declared if name in inherited.BUILDS and name in os.environ and name not in given]
    passed += [name for name in inherited.PROXIES if name in os.environ and name not in passed]  # builders accept these without an ARG line
    assert target.isolation is not None
    return (
        *(str(target.isolation.engine), "build", "--network", "host", "--file", f"{target.folder}/{target.container.dockerfile}"),
        *(word for name, value in given.items() for word in ("--build-arg", f"{name}={value}")),
        *(word for name in passed for word in ("--build-arg", name)),
        *("--label", f"{TARGET}={_owner(target)}", "--tag", image),
        target.folder,
    )


def log_of(target: Target) -> Path:
    """Return the path of the log of the last build of a target's image."""
    return cache_folder() / "builds" / f"{'-'.join([_repository(target).replace('/', '-'), *target.features])}.log"


def is_built(target: Target) -> bool:
    """Return whether the user's image exists, or this folder has built one.

    Raises :class:`ContainerError` if the engine doesn't respond.
    """
    assert target.isolation is not None
    engine, image = target.isolation.engine, image_of(target)
    return images.image_id(engine, image) is not None and (target.isolation.image is not None or _is_own(target, image))


def build_image(target: Target, cancelled: Event) -> str:
    """Build or pull the image unless it exists, and return its id. Raises :class:`BuildError` with the tail of the log if this fails."""
    assert target.isolation is not None
    engine = target.isolation.engine
    with _LOCKS[target.folder]:  # variants of a framework can share an image
        image = image_of(target)
        if target.isolation.image is not None:
            return images.require_image(engine, image)
        try:
            if (found := images.image_id(engine, image)) and _is_own(target, image):
                return found
            log = _run_build(target, image, cancelled)
            found = images.image_id(engine, image) or image
            images.remove_dangling(engine, log)
            images.remove_images(engine, f"{TARGET}={_owner(target)}", keep=found)
        except ContainerError as error:
            raise BuildError(error.message, hint=error.hint, log_tail=error.log_tail) from None
        return found


def _run_build(target: Target, image: str, cancelled: Event) -> Path:
    """Build the image and return the path of the log."""
    folder, name = Path(target.folder), target.container.dockerfile
    if not os.path.lexists(folder / name):
        raise BuildError(f"it has no {name}, so it cannot run in a container", hint=f"write {folder / name}")
    try:
        read_foreign(folder / name, folder)
    except OSError as error:
        raise BuildError(f"its {name} cannot be read: {error.strerror}") from None
    if target.build.features and FEATURES not in DECLARATION.findall(dockerfile_of(target)):
        raise BuildError(f"its {name} ignores its optional features", hint=f"write ARG {FEATURES}= and use it in {folder / name}")
    log = log_of(target)
    engine, *words = build_command(target, image)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"$ {shlex.join([engine, *words])}\n")
    argv = (command_line.program(Engine(engine)), *words)
    env = {**inherited.for_builds(), **command_line.environment()}
    if "DOCKER_BUILDKIT" in os.environ:
        env["DOCKER_BUILDKIT"] = os.environ["DOCKER_BUILDKIT"]
    limit_s = target.build.timeout_s
    run_logged(Command(argv, folder, env), log, time.monotonic() + limit_s, limit_s, cancelled, "the build of its image")
    return log


def _is_own(target: Target, image: str) -> bool:
    """Return whether this folder's build made the image, which must exist."""
    assert target.isolation is not None
    return images.label_of(target.isolation.engine, image, TARGET) == _owner(target)


def _owner(target: Target) -> str:
    """Return the label value of a target's images, which contains a hash of the target's folder.

    A build removes only images with its own label: those of earlier sources in the same folder, with the same features. If another
    checkout has built the same sources, this checkout builds its own image from the cached layers. Neither checkout removes the other's
    image.
    """
    name = "+".join((_repository(target), *target.features))
    return f"{name}@{hashlib.sha256(target.folder.encode()).hexdigest()[:12]}"


def _repository(target: Target) -> str:
    """Return the repository of a target's images, such as ``httpbench/server-golang-net-http``. Variants of a framework share it.

    In another project's catalog, each variant has its own recipe and therefore its own repository. Otherwise, building a variant would
    remove the images of the other variants, because a build removes all earlier images from its repository.
    """
    parts = [target.kind, target.language, target.framework, *([target.variant] if target.entry and target.variant else [])]
    return f"httpbench/{'-'.join(parts)}".replace("+", "plus")
