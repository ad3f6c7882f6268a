"""The inputs of a trial."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from httpbench.load import LoadGenerator, Timer, Tool
from httpbench.model import ClientWork, Learned, Target, TrialPlan, Workload
from httpbench.run.load.place import HERE, BackendPlace, LoadPlace
from httpbench.run.trial.context import HOST, START_LIMIT_S, StartContext
from httpbench.run.trial.start import transport_of


@dataclass(frozen=True, slots=True)
class Upstream:
    """The server behind a proxy, or the database behind a server."""

    target: Target
    folder: Path
    """Folder of the program's build."""
    cores: Sequence[tuple[int, ...]]
    """Physical cores of the program."""
    place: BackendPlace | None = None
    """Host where the program runs, or ``None`` for this machine."""


@dataclass(frozen=True, slots=True)
class TrialInputs:
    """The inputs of a trial."""

    plan: TrialPlan
    started_at: str
    target: Target
    workload: Workload
    generator: Tool
    """Load generator, or timer for clients."""
    folder: Path
    """Folder of the target's build."""
    cores: Sequence[tuple[int, ...]]
    """Physical cores of the target."""
    port: int | None = None
    run_id: str | None = None
    start_limit_s: float = START_LIMIT_S
    backend: Upstream | None = None
    """The backend server of a proxy, or the database of a server. ``None``: the target uses neither."""
    learned: Learned | None = None
    """Correct response that an earlier trial of the run learned from this target."""
    probes: bool = False
    """Whether to probe the target after the load."""
    accepts_disturbed: bool = False
    """Whether the trial counts even if other programs disturbed it."""
    load_place: LoadPlace = HERE
    """Place where load generators run."""
    failed_share_max: float | None = None
    """Maximum share of failed requests that the service level allows, or ``None`` for the default limit of valid trials."""

    @property
    def address(self) -> str:
        """The only address on which targets listen: loopback, or the address at which load hosts reach this machine."""
        return self.load_place.address or HOST

    def place(self, scratch: Path) -> StartContext:
        """Return the context for starting the target. ``scratch`` must be an empty folder."""
        return StartContext(
            self.folder,
            scratch,
            self.cores,
            self.port,
            self.start_limit_s,
            workers=self.plan.workers,
            run_id=self.run_id,
            address=self.address,
            transport=transport_of(self.target, self.plan.load),
        )

    @property
    def generator_cpus(self) -> tuple[int, ...]:
        """Logical CPUs of the load generator at its place."""
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
