"""Containers: how a target's image is built, within which limits it runs, and what was seen of both."""

from __future__ import annotations

import re
from enum import StrEnum

from pydantic import Field

from httpbench.model.frozen import Frozen

CPUS = 1.0
MEMORY_BYTES = 512 << 20
PORT = 8080

TRIED_SHARE_MIN = 0.90
"""Share of a CPU limit that a burn must reach to have tried it."""


SMALLEST_BYTES = 6 << 20
"""The lowest memory limit that docker takes."""

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}


def size_bytes(text: str) -> int:
    """``512m``, ``1g``, ``64MiB`` in bytes, as docker counts them. Raises ``ValueError`` if it is no size, or too small for a limit."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([kmg]?)(?:i?b)?", text.strip().lower())
    found = int(float(match[1]) * _UNITS[match[2]]) if match else 0
    if found < SMALLEST_BYTES:
        raise ValueError(f"«{text}» is not a size of at least 6m; write it as 64m or 1g")
    return found


class Engine(StrEnum):
    DOCKER = "docker"
    PODMAN = "podman"


class Place(StrEnum):
    """Where a target runs."""

    PROCESS = "process"
    DOCKER = "docker"
    PODMAN = "podman"


class NetworkMode(StrEnum):
    HOST = "host"  # the machine's own network
    BRIDGE = "bridge"  # a network of the engine; the container has an address of its own


class ContainerRecipe(Frozen):
    """How the image of a target is built: ``[container]`` of a ``target.toml``. Its context is the target's folder."""

    dockerfile: str = Field(default="Dockerfile", pattern=r"^[^/-][^:]*$")
    """Path of the Dockerfile, relative to the target's folder."""
    base: str | None = Field(default=None, pattern=r"^[^-\s][^\s]*$")
    """Value of ``ARG BASE``, the image that the last stage starts from. Null: the Dockerfile's own."""
    build_args: dict[str, str] = {}
    """Values of further ``ARG`` lines, by name."""
    port: int = Field(default=PORT, ge=1, le=65_535)
    """Port inside the container, if its network is a bridge. With the host network, the harness chooses a free one."""
    fixed_port: bool = False
    """Whether the image listens on ``port`` with the host network too: its command takes no port."""


class Isolation(Frozen):
    """The container that a target runs in, and its limits."""

    engine: Engine
    """Container engine."""
    cpus: float = Field(default=CPUS, gt=0)
    """CPU limit, in cores."""
    memory_bytes: int = Field(default=MEMORY_BYTES, ge=SMALLEST_BYTES)
    """Memory limit, in bytes. Swap is not allowed beyond it."""
    network: NetworkMode = NetworkMode.HOST
    """Network of the container."""
    image: str | None = Field(default=None, pattern=r"^[^-\s][^\s]*$")
    """Image that the command line names; its own command runs. Null: built from the target's Dockerfile."""
    port: int | None = Field(default=None, ge=1, le=65_535)
    """Port that ``image`` listens on. Null: the one that the image exposes."""


class ContainerRun(Frozen):
    """One container as it ran: how it was started, and the limits that were in force."""

    command: str
    """Command line that started it, quoted for a shell."""
    engine_version: str
    """Version of the engine."""
    image_id: str
    """Id of the image."""
    cpus: float | None
    """CPU limit of its control groups, in cores. Null: none."""
    memory_bytes: int | None
    """Memory limit of its control groups, in bytes. Null: none."""
    cpuset: tuple[int, ...]
    """Logical CPUs that its control groups allow."""
    burned_cpus: float | None = None
    """CPU that a short burn inside the limits could use, in cores. Null: the limits were read, but not tried."""

    @property
    def was_tried(self) -> bool:
        """Whether the burn came to the CPU limit. One that other programs held up shows nothing."""
        if self.cpus is None or self.burned_cpus is None:
            return False
        return self.burned_cpus >= TRIED_SHARE_MIN * min(self.cpus, len(self.cpuset) or self.cpus)
