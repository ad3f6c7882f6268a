"""Build the image of a target from its Dockerfile, once for each state of its sources.

An image's tag is a fingerprint of the target's folder and recipe. An image that exists is therefore current and needs no receipt.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from threading import Event, Lock

from httpbench.errors import BuildError, ContainerError, HttpbenchError
from httpbench.host import inherited
from httpbench.isolate import Command, ProcessTree, tail
from httpbench.isolate import engine as command_line
from httpbench.isolate import image as images
from httpbench.isolate.labels import TARGET
from httpbench.model import Engine, Target
from httpbench.run.builds.bases import arguments
from httpbench.run.builds.build import cache_folder

IGNORED = ("__pycache__", ".git")
POLL_S = 0.2
_LOCKS: defaultdict[str, Lock] = defaultdict(Lock)


def image_of(target: Target) -> str:
    """Return the name of a target's image: the user's own, or the one for the current sources. Raises :class:`BuildError`."""
    assert target.isolation is not None
    if target.isolation.image is not None:
        return target.isolation.image
    folder = Path(target.folder)
    digest = hashlib.sha256(target.container.model_dump_json().encode() + json.dumps(arguments(target)).encode())
    try:
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            name = path.relative_to(folder)
            if name.name != "target.toml" and not set(IGNORED) & set(name.parts):
                digest.update(f"\n{name} {path.stat().st_mode & 0o100}\n".encode())
                digest.update(path.read_bytes())
    except OSError as error:
        raise BuildError(f"its sources cannot be read: {error.strerror}: {error.filename}") from None
    host = "localhost/" if target.isolation.engine is Engine.PODMAN else ""  # otherwise, podman would ask registries
    return f"{host}{_repository(target)}:{digest.hexdigest()[:12]}"


def build_command(target: Target, image: str) -> tuple[str, ...]:
    """Return the command line that builds the image. Environment variables that the Dockerfile declares are passed by name."""
    folder, given = Path(target.folder), arguments(target)
    dockerfile = folder / target.container.dockerfile
    passed = [name for name in _arguments(dockerfile) if name in inherited.BUILDS and name in os.environ and name not in given]
    passed += [name for name in inherited.PROXIES if name in os.environ and name not in passed]  # every builder knows these
    assert target.isolation is not None
    return (
        *(str(target.isolation.engine), "build", "--network", "host", "--file", str(dockerfile)),
        *(word for name, value in given.items() for word in ("--build-arg", f"{name}={value}")),
        *(word for name in passed for word in ("--build-arg", name)),
        *("--label", f"{TARGET}={_repository(target)}", "--tag", image),
        str(folder),
    )


def is_built(target: Target) -> bool:
    """Return whether the image exists. Raises :class:`ContainerError` if the engine doesn't respond."""
    assert target.isolation is not None
    return images.image_id(target.isolation.engine, image_of(target)) is not None


def build_image(target: Target, cancelled: Event) -> str:
    """Build or pull the image unless it exists, and return its id. Raises :class:`BuildError` with the tail of the log."""
    with _LOCKS[target.folder]:  # variants of one framework share an image
        return _build_image(target, cancelled)


def _build_image(target: Target, cancelled: Event) -> str:
    assert target.isolation is not None
    engine, image = target.isolation.engine, image_of(target)
    if target.isolation.image is not None:
        return images.require_image(engine, image)
    try:
        if found := images.image_id(engine, image):
            return found
        _require_dockerfile(target)
        log = cache_folder() / "builds" / f"{_repository(target).replace('/', '-')}.log"
        _run(target, image, log, cancelled)
        found = images.image_id(engine, image) or image
        images.remove_dangling(engine, log)
        images.remove_images(engine, f"{TARGET}={_repository(target)}", keep=found)
    except ContainerError as error:
        raise BuildError(error.message, hint=error.hint, log_tail=error.log_tail) from None
    return found


def _run(target: Target, image: str, log: Path, cancelled: Event) -> None:
    name, *words = build_command(target, image)
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(f"$ {command_line.quoted([name, *words])}\n")
    argv = (command_line.program(Engine(name)), *words)
    env = {**inherited.for_builds(), **command_line.environment()}
    if "DOCKER_BUILDKIT" in os.environ:
        env["DOCKER_BUILDKIT"] = os.environ["DOCKER_BUILDKIT"]
    deadline = time.monotonic() + target.build.timeout_s
    try:
        with ProcessTree([Command(argv, Path(target.folder), env)], stdout=log, stderr=log) as process:
            while (end := process.wait(POLL_S)) is None and time.monotonic() < deadline and not cancelled.is_set():
                pass
    except HttpbenchError as error:
        raise BuildError(error.message, log_tail=tail(log)) from None
    if cancelled.is_set():
        raise BuildError("the build of its image was interrupted")
    if end is None:
        raise BuildError(f"the build of its image took longer than {target.build.timeout_s:g} s and was ended", log_tail=tail(log))
    if end.code != 0:
        raise BuildError(f"the build of its image failed, {end}", hint=f"the whole log: {log}", log_tail=tail(log))


def _require_dockerfile(target: Target) -> None:
    dockerfile = Path(target.folder) / target.container.dockerfile
    if not dockerfile.is_file():
        raise BuildError(f"it has no {target.container.dockerfile}, so it cannot run in a container", hint=f"write {dockerfile}")


def _repository(target: Target) -> str:
    """Return a repository such as ``httpbench/server-golang-net-http``. The images of a framework's variants differ only in their tag.

    In another project's catalog, each variant has its own recipe and therefore its own repository, because a build removes the earlier
    images of its repository.
    """
    parts = [target.kind, target.language, target.framework, *([target.variant] if target.entry and target.variant else [])]
    return f"httpbench/{'-'.join(parts)}".replace("+", "plus")


def _arguments(dockerfile: Path) -> Iterator[str]:
    """Yield the names of the ``ARG`` lines."""
    try:
        text = dockerfile.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        return
    yield from dict.fromkeys(re.findall(r"^\s*ARG\s+([A-Za-z_][A-Za-z0-9_]*)", text, re.MULTILINE | re.IGNORECASE))
