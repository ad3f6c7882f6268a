"""Find, pull and remove images, and read the port that an image exposes."""

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
"""Pattern of the line that docker's classic builder prints after each step."""


def image_id(engine: Engine, image: str) -> str | None:
    """Return the id of an image, or ``None`` if it isn't on this machine. Raises :class:`ContainerError` if the engine doesn't respond."""
    try:
        return command_line.ask(engine, "image", "inspect", "--format", "{{.Id}}", image)
    except ContainerError as error:
        if "no such image" in error.message.lower() or "not known" in error.message.lower():
            return None
        raise


def label_of(engine: Engine, image: str, label: str) -> str:
    """Return the value of a label of an image, or an empty string if the image lacks the label. Raises :class:`ContainerError`."""
    return command_line.ask(engine, "image", "inspect", "--format", f'{{{{index .Config.Labels "{label}"}}}}', image)


def size_of(engine: Engine, image: str) -> int:
    """Return the size of an image on this machine, in bytes. Raises :class:`ContainerError` if the engine doesn't know it."""
    return int(command_line.ask(engine, "image", "inspect", "--format", "{{.Size}}", image))


def familiar(image: str) -> str:
    """Return the name of an image as docker prints it: with a tag, and without the default registry."""
    name = image.removeprefix("localhost/").removeprefix("docker.io/").removeprefix("library/")
    return name if ":" in name.rpartition("/")[2] or "@" in name else f"{name}:latest"


def names(engine: Engine) -> set[str]:
    """Return the names of all images on this machine. Raises :class:`ContainerError` if the engine doesn't respond."""
    return set(map(familiar, command_line.ask(engine, "images", "--format", "{{.Repository}}:{{.Tag}}").split()))


def require_image(engine: Engine, image: str) -> str:
    """Return the id of an image, after pulling it if necessary. Raises :class:`BuildError` if the image isn't available."""
    try:
        if found := image_id(engine, image):
            return found
        command_line.ask(engine, "pull", image, timeout_s=PULL_LIMIT_S)
    except ContainerError as error:
        raise BuildError(f"image {image} is not available: {error.message}", hint=error.hint) from None
    return image_id(engine, image) or image


def exposed_port(engine: Engine, image: str) -> int | None:
    """Return the TCP port that an image exposes, or ``None`` if it exposes none or several."""
    printed = command_line.ask(engine, "image", "inspect", "--format", "{{json .Config.ExposedPorts}}", image)
    ports = [name.removesuffix("/tcp") for name in json.loads(printed) or {} if name.endswith("/tcp")]
    return int(ports[0]) if len(ports) == 1 else None


def remove_images(engine: Engine, label: str, keep: str) -> None:
    """Remove all images with this label, except the image with the id ``keep`` and images in use."""
    ids = command_line.ask(engine, "images", "--quiet", "--no-trunc", "--filter", f"label={label}").split()
    for other in dict.fromkeys(ids):
        if other.removeprefix("sha256:") != keep.removeprefix("sha256:"):  # podman prints ids with and without the prefix
            _remove(engine, other)


def remove_dangling(engine: Engine, build_log: Path) -> None:
    """Remove the unnamed images that a build left behind: the intermediate stages of docker's classic builder."""
    ours = set(IMAGE_ID.findall(build_log.read_text(errors="replace")))
    for id_ in command_line.ask(engine, "images", "--quiet", "--filter", "dangling=true").split():
        if id_ in ours:
            _remove(engine, id_)


def _remove(engine: Engine, id_: str) -> None:
    with contextlib.suppress(ContainerError):  # a container or another image may use this image
        command_line.ask(engine, "rmi", id_)
