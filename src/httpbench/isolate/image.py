"""Images: whether one is there, what it exposes, and the dangling ones that a build leaves."""

from __future__ import annotations

import contextlib
import json
import re
from pathlib import Path

from httpbench.errors import BuildError, ContainerError
from httpbench.isolate import engine as command_line
from httpbench.model import Engine

PULL_LIMIT_S = 600.0
IMAGE_ID = re.compile(r"^ ?---> ([0-9a-f]{12})$", re.MULTILINE)
"""What docker's first builder prints after each step."""


def image_id(engine: Engine, image: str) -> str | None:
    """The id of an image on this machine; ``None`` if it is not there. Raises :class:`ContainerError` if the engine does not respond."""
    try:
        return command_line.ask(engine, "image", "inspect", "--format", "{{.Id}}", image)
    except ContainerError as error:
        if "no such image" in error.message.lower() or "not known" in error.message.lower():
            return None
        raise


def familiar(image: str) -> str:
    """A name as docker shows it: with its tag, and without the registry that is meant if none is named."""
    name = image.removeprefix("localhost/").removeprefix("docker.io/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"


def names(engine: Engine) -> set[str]:
    """The names of all images on this machine. Raises :class:`ContainerError` if the engine does not respond."""
    return set(map(familiar, command_line.ask(engine, "images", "--format", "{{.Repository}}:{{.Tag}}").split()))


def require_image(engine: Engine, image: str) -> str:
    """The id of an image, which is pulled if it is not there. Raises :class:`BuildError` if it cannot be had."""
    try:
        if found := image_id(engine, image):
            return found
        command_line.ask(engine, "pull", image, timeout_s=PULL_LIMIT_S)
    except ContainerError as error:
        raise BuildError(f"image {image} cannot be had: {error.message}", hint=error.hint) from None
    return image_id(engine, image) or image


def exposed_port(engine: Engine, image: str) -> int | None:
    """The TCP port that an image exposes; ``None`` if it exposes none, or several."""
    printed = command_line.ask(engine, "image", "inspect", "--format", "{{json .Config.ExposedPorts}}", image)
    ports = [name.removesuffix("/tcp") for name in json.loads(printed) or {} if name.endswith("/tcp")]
    return int(ports[0]) if len(ports) == 1 else None


def remove_images(engine: Engine, label: str, keep: str) -> None:
    """Removes the images with this label, but one: the earlier builds of a target. One that is in use stays."""
    ids = command_line.ask(engine, "images", "--quiet", "--no-trunc", "--filter", f"label={label}").split()
    for other in dict.fromkeys(ids):
        if other.removeprefix("sha256:") != keep.removeprefix("sha256:"):  # podman writes both forms
            _remove(engine, other)


def remove_dangling(engine: Engine, build_log: Path) -> None:
    """Removes the images without a name that a build left: the earlier stages of docker's first builder."""
    ours = set(IMAGE_ID.findall(build_log.read_text(errors="replace")))
    for id_ in command_line.ask(engine, "images", "--quiet", "--filter", "dangling=true").split():
        if id_ in ours:
            _remove(engine, id_)


def _remove(engine: Engine, id_: str) -> None:
    with contextlib.suppress(ContainerError):  # a container or another image uses it
        command_line.ask(engine, "rmi", id_)
