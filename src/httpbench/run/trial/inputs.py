"""All that a trial is made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.load import LoadGenerator, Timer, Tool
from httpbench.model import ClientWork, Learned, Target, TrialPlan, Workload
from httpbench.run.load.place import HERE, BackendPlace, LoadPlace
from httpbench.run.trial.start import HOST, START_LIMIT_S


@dataclass(frozen=True, slots=True)
class Backend:
    """The server behind a proxy, or the database behind a server."""

    target: Target
    folder: Path
    """Its build."""
    cores: Sequence[tuple[int, ...]]
    """Its physical cores."""
    place: BackendPlace | None = None
    """The host where it runs; ``None``: this machine."""


@dataclass(frozen=True, slots=True)
class TrialInputs:
    """All that a trial is made from."""

    plan: TrialPlan
    started_at: str
    target: Target
    workload: Workload
    generator: Tool
    """A load generator; for clients, a timer."""
    folder: Path
    """The target's build."""
    cores: Sequence[tuple[int, ...]]
    """The target's physical cores."""
    port: int | None = None
    run_id: str | None = None
    start_limit_s: float = START_LIMIT_S
    backend: Backend | None = None
    """Of a proxy, or the database that a server asks."""
    learned: Learned | None = None
    """What an earlier trial of the run learned of this target."""
    probes: bool = False
    """Whether to probe the target after the load."""
    accepts_disturbed: bool = False
    """Whether a disturbed trial counts."""
    load_place: LoadPlace = HERE
    """Where load generators run."""
    failed_share_max: float | None = None
    """Share of failed requests that the service level allows; ``None``: as few as a valid trial may have."""

    @property
    def address(self) -> str:
        """That targets listen on, and on no other: loopback, or the one at which load hosts reach this machine."""
        return self.load_place.address or HOST

    @property
    def generator_cpus(self) -> tuple[int, ...]:
        """Logical CPUs of the load generator, where it runs."""
        there = self.load_place.cpus
        return self.plan.cores.generator if there is None else there

    @property
    def load_generator(self) -> LoadGenerator:
        assert isinstance(self.generator, LoadGenerator), "the command line chooses by kind"
        return self.generator

    @property
    def timer(self) -> Timer:
        assert isinstance(self.generator, Timer), "the command line chooses by kind"
        return self.generator

    @property
    def client_work(self) -> ClientWork:
        assert self.workload.client is not None, "the command line chooses by kind"
        return self.workload.client
