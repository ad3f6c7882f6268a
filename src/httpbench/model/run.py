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
    """A required precision, which determines when a run ends. The plan of such a run contains the maximum number of rounds."""

    rounds_min: int = Field(ge=1)
    """Minimum number of rounds."""
    rounds_max: int = Field(ge=1)
    """Maximum number of rounds."""
    half_width: float = Field(gt=0)
    """Maximum relative half-width of the confidence intervals. The run ends once no interval is wider than this. 0.02 is ± 2%."""


class Gate(Frozen):
    """A gate such as ``rps<-3%``, which is breached if requests per second fell by more than 3%."""

    figure: str
    """Name of the result: a key of :data:`httpbench.stats.figures.BY_NAME`."""
    side: Literal["<", ">"]
    """Whether changes below (``<``) or above (``>``) the bound breach the gate."""
    change: float = Field(gt=-1)
    """Bound on the relative change: −0.03 is −3%."""

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # httpbench ended it early, for example because all trials of the first round failed for the same reason


class Run(Frozen):
    """One invocation of ``bench``, ``run``, ``saturate`` or ``noise``."""

    id: str
    """Id of the run."""
    started_at: str
    """Start of the run: UTC, ISO 8601."""
    finished_at: str | None
    """End of the run: UTC, ISO 8601. Null: not finished."""
    status: RunStatus
    """Status of the run."""
    command: tuple[str, ...]
    """Command line of the run."""
    environment: Environment
    """Properties of the machine that ran httpbench."""
    plan: tuple[TrialPlan, ...]
    """All planned trials in order, without repeats."""
    targets: dict[str, Target]
    """Targets of the run, by id."""
    workloads: dict[str, Workload]
    """Workloads of the run, by name."""
    table: Table = Table.HTTP_SERVERS
    """Columns of the run's tables."""
    baseline: str | None = None
    """Id of the target to compare the other targets with. Null: none."""
    precision: Precision | None = None
    """Required precision. Null: a fixed number of rounds."""
    retries: int = Field(default=0, ge=0)
    """Maximum number of repeats of a disturbed trial."""
    scale: float = Field(default=1.0, gt=0)
    """Factor for the suite's rates and times. Every table shows this factor."""
    measures_noise: bool = False
    """Whether the rounds are A/A pairs, which compare one server with itself."""
    noise: Noise | None = None
    """Noise floor of this machine, as known at the start of the run. Null: unknown or outdated."""
    search: Search | None = None
    """Search for the highest rate. With a search, ``plan`` contains only the first trial. Null: no search."""
    gates: tuple[Gate, ...] = ()
    """Gates for the changes of the targets relative to the baseline."""
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate counts as failed."""
    name: str | None = None
    """Name of the run, for ``report`` and ``compare``. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags that the user gave the run, for searches in the dashboard."""
    load_host: LoadHost | None = None
    """Machine that ran the load generators. Null: this machine."""
    published: str | None = None
    """Project that published the results, e.g. ``techempower``. Most of the environment is then unknown. Null: measured by httpbench."""
