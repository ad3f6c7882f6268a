"""A run: its trials, its machines, and its options."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from httpbench.model.environment import Environment, LoadHost
from httpbench.model.frozen import Frozen
from httpbench.model.noise import Noise
from httpbench.model.plan import TrialPlan
from httpbench.model.search import Search
from httpbench.model.suite import Table
from httpbench.model.target import Target
from httpbench.model.workload import Workload


class Precision(Frozen):
    """A required precision, which decides the number of rounds. The plan then contains the highest number."""

    rounds_min: int = Field(ge=1)
    """Lowest number of rounds."""
    rounds_max: int = Field(ge=1)
    """Highest number of rounds."""
    half_width: float = Field(gt=0)
    """Half the relative width of an interval that ends the rounds: 0.02 is ± 2%."""


class Gate(Frozen):
    """A gate such as ``rps<-3%``, which fails if requests per second changed by less than −3%."""

    figure: str
    """A key of :data:`httpbench.stats.figures.BY_NAME`."""
    side: Literal["<", ">"]
    """Side of the bound that fails."""
    change: float = Field(gt=-1)
    """Bound on the relative change: −0.03 is −3%."""

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # after a first round that was invalid for one reason


class Run(Frozen):
    """One invocation of ``bench`` or ``run``."""

    id: str
    """Id of the run."""
    started_at: str
    """Start: UTC, ISO 8601."""
    finished_at: str | None
    """End: UTC, ISO 8601. Null: not finished."""
    status: RunStatus
    """Whether the run is finished."""
    command: tuple[str, ...]
    """The command line."""
    environment: Environment
    """The machine and its state."""
    plan: tuple[TrialPlan, ...]
    """All planned trials in order, without repeats."""
    targets: dict[str, Target]
    """Targets by id."""
    workloads: dict[str, Workload]
    """Workloads by name."""
    table: Table = Table.HTTP_SERVERS
    """Columns of its tables."""
    baseline: str | None = None
    """Id of the target to compare the others with. Null: none."""
    precision: Precision | None = None
    """Required precision. Null: a fixed number of rounds."""
    retries: int = Field(default=0, ge=0)
    """Maximum number of repeats of a disturbed trial."""
    scale: float = Field(default=1.0, gt=0)
    """Factor on the suite's rates and times, which every table shows."""
    measures_noise: bool = False
    """Whether the rounds are A/A pairs: one server against itself."""
    noise: Noise | None = None
    """Noise of this machine known at the start of the run. Null: unknown, or no longer valid."""
    search: Search | None = None
    """Search for the highest rate; ``plan`` then contains only the first trial. Null: no search."""
    gates: tuple[Gate, ...] = ()
    """Gates of the targets against the baseline."""
    fails_if_inconclusive: bool = False
    """Whether a gate that the rounds don't decide counts as failed."""
    name: str | None = None
    """Name of the run, for ``report`` and ``compare``. Null: none."""
    tags: tuple[str, ...] = ()
    """Words assigned by the user, by which ``serve`` finds the run."""
    load_host: LoadHost | None = None
    """The machine that ran the load generators. Null: this one."""
    published: str | None = None
    """Project that published the results, such as ``techempower``; most of the environment is then unknown. Null: measured by httpbench."""
