"""Container images and limits of targets, and records of containers that ran."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field

from httpbench.model.frozen import Frozen

CPUS = 1.0
MEMORY_BYTES = 512 << 20
PORT = 8080

TRIED_SHARE_MIN = 0.90
"""Share of a CPU limit that a burn must reach to show that the limit is in force."""


SMALLEST_BYTES = 6 << 20
"""Lowest memory limit that docker accepts."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def size_bytes(text: str) -> int:
    """Convert a size such as ``512m``, ``1g`` or ``64MiB`` to bytes.

    As in docker, units are powers of 1024. Raises ``ValueError`` if the text isn't a size, or if the size is too small for a memory limit.
    """
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)(?:i?b)?", text.strip().lower())
    found = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if found < SMALLEST_BYTES:
        raise ValueError(f'"{text}" is not a size of at least 6m; write it as 64m or 1g')
    return found


class Engine(StrEnum):
    DOCKER = "docker"
    PODMAN = "podman"


class Runtime(StrEnum):
    """A way to run a target: as a process, or in a container."""

    PROCESS = "process"
    DOCKER = "docker"
    PODMAN = "podman"


class NetworkMode(StrEnum):
    HOST = "host"  # the network of the host
    BRIDGE = "bridge"  # a network of the engine, in which the container has its own address


USUAL_CAPABILITIES = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "KILL", "NET_BIND_SERVICE", "SETGID", "SETUID", "SYS_CHROOT")
"""Capabilities of containers whose needs are unknown: those with which servers that start as root usually work."""


class ContainerRecipe(Frozen):
    """The ``[container]`` table of a ``target.toml``, which describes how to build the image.

    The build context is the target's folder.
    """

    dockerfile: str = Field(default="Dockerfile", pattern=r"^[^/-][^:]*$")
    """Path of the Dockerfile, relative to the target's folder."""
    base: str | None = Field(default=None, pattern=r"^[^-\s][^\s]*$")
    """Value of the build argument ``BASE``, the base image of the last stage. Null: the default in the Dockerfile."""
    build_args: dict[str, str] = {}
    """Values of other build arguments, by name."""
    port: int = Field(default=PORT, ge=1, le=65_535)
    """Port that the target listens on in a bridge network. With the host network, the harness chooses a free port, unless
    ``fixed_port`` is true."""
    fixed_port: bool = False
    """Whether the target listens on ``port`` even with the host network, because its command has no port option."""
    capabilities: tuple[Annotated[str, Field(pattern=r"^[A-Z_]+$")], ...] = ()
    """Linux capabilities of the container, such as ``SETUID`` (capabilities(7)). It has no others."""


class Isolation(Frozen):
    """The settings of a target's container: engine, limits, network and image."""

    engine: Engine
    """Container engine."""
    cpus: float = Field(default=CPUS, gt=0)
    """CPU limit, in cores."""
    memory_bytes: int = Field(default=MEMORY_BYTES, ge=SMALLEST_BYTES)
    """Memory limit, in bytes. The container gets no swap space."""
    network: NetworkMode = NetworkMode.HOST
    """Network of the container."""
    image: str | None = Field(default=None, pattern=r"^[^-\s][^\s]*$")
    """Image that the user named on the command line. It runs with its default command. Null: the image is built from the target's
    Dockerfile."""
    port: int | None = Field(default=None, ge=1, le=65_535)
    """Port that ``image`` listens on. Null: the port that the image exposes."""


class ContainerRun(Frozen):
    """A record of a container that ran: its command line, image and limits."""

    command: str
    """Command line that started the container, quoted for a shell."""
    engine_version: str
    """Version of the engine."""
    image_id: str
    """Id of the image."""
    cpus: float | None
    """CPU limit of the container's control groups, in cores. Null: no limit."""
    memory_bytes: int | None
    """Memory limit of the container's control groups, in bytes. Null: no limit."""
    cpuset: tuple[int, ...]
    """Logical CPUs that the container's control groups allow."""
    burned_cpus: float | None = None
    """CPU usage that a short burn reached under the limits, in cores. Null: the limits were read but not tested."""

    @property
    def was_tried(self) -> bool:
        """Whether the burn came close enough to the CPU limit to show that the limit is in force.

        The value can be false even though the limit is in force, because other programs can slow the burn down.
        """
        if self.cpus is None or self.burned_cpus is None:
            return False
        return self.burned_cpus >= TRIED_SHARE_MIN * min(self.cpus, len(self.cpuset) or self.cpus)
