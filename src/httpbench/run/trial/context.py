"""The place where a target runs: its folder, cores, port and address."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench import http
from httpbench.host.certificates import CertificateFiles
from httpbench.run.trial.startup import FirstRequest

HOST = "127.0.0.1"
START_LIMIT_S = 20.0


@dataclass(frozen=True, slots=True)
class Reachable:
    """The address and URL at which a target reaches its database."""

    host: str
    """IP address."""
    url: str


@dataclass(frozen=True, slots=True)
class StartContext:
    """The place where a target runs, with its resources."""

    folder: Path
    """Folder of the target's build."""
    scratch: Path
    """Folder that is empty before the target starts and exists while it runs."""
    cores: Sequence[tuple[int, ...]]
    """Physical cores of the target, each as a tuple of its logical CPUs."""
    port: int | None = None
    """Port, or ``None`` for any free port."""
    start_limit_s: float = START_LIMIT_S
    """Time limit for the first correct response, in seconds."""
    backend: tuple[str, int] | None = None
    """Host and port to which a proxy relays."""
    second_backend: tuple[str, int] | None = None
    """Host and port of the second backend to which a proxy relays, or ``None`` if it has only one."""
    database: Reachable | None = None
    """Database that the target uses."""
    workers: int | None = None
    """Number of workers or copies, or ``None`` for one per core."""
    run_id: str | None = None
    """Id of the run."""
    address: str = HOST
    """The only address on which the target listens."""
    transport: http.Transport = http.PLAIN
    """How requests reach the target."""
    certificate: CertificateFiles | None = None
    """Certificate of the target, or ``None`` if its command doesn't use one."""
    first_request: FirstRequest | None = None
    """Request whose response shows how long the target takes to start, or ``None`` if start-up isn't measured."""

    @property
    def cpus(self) -> tuple[int, ...]:
        """Logical CPUs of the target."""
        return tuple(cpu for core in self.cores for cpu in core)
