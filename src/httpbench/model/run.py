"""A run: its trials, its machines, and its options."""

from __future__ import annotations

from enum import StrEnum
from typing import Literal

from pydantic import Field

from httpbench.model.environment import Environment, LoadHost
from httpbench.model.frozen import Frozen, RunId, Time
from httpbench.model.load import Load
from httpbench.model.noise import Noise
from httpbench.model.plan import TrialPlan
from httpbench.model.profile import Profile
from httpbench.model.search import Search
from httpbench.model.suite import Table
from httpbench.model.target import Scaling, Target
from httpbench.model.workload import Workload


class Precision(Frozen):
    """A required precision. The run ends once its results are this precise, so its plan contains the maximum number of rounds."""

    rounds_min: int = Field(ge=1)
    """Minimum number of rounds."""
    rounds_max: int = Field(ge=1)
    """Maximum number of rounds."""
    half_width: float = Field(gt=0)
    """Maximum relative half-width of the confidence intervals: 0.02 is ± 2%. The run ends once no interval has a larger half-width."""


class Gate(Frozen):
    """A gate such as ``rps<-3%``, which is breached if requests per second fell by more than 3%."""

    figure: str
    """Name of the result on the command line, such as ``rps`` or ``p99``."""
    side: Literal["<", ">"]
    """Whether changes below (``<``) or above (``>``) the bound breach the gate."""
    change: float = Field(gt=-1)
    """Bound on the relative change: −0.03 is −3%."""

    @property
    def is_breached_by_no_change(self) -> bool:
        """Whether an unchanged result breaches the gate, as with ``rps<3%``, which probably lacks its sign."""
        return self.change > 0 if self.side == "<" else self.change < 0

    def __str__(self) -> str:
        return f"{self.figure}{self.side}{self.change * 100:+g}%"


class RunStatus(StrEnum):
    RUNNING = "running"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # httpbench ended the run early, for example because all trials of the first round failed for the same reason


class Run(Frozen):
    """One invocation of ``bench``, ``run``, ``saturate`` or ``noise``."""

    id: RunId
    """Id of the run."""
    started_at: Time
    """Time when the run started, in UTC and ISO 8601 format."""
    finished_at: Time | None
    """Time when the run ended, in UTC and ISO 8601 format. Null: not finished."""
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
    """Factor by which the suite's rates and times are multiplied. Tables show a factor other than 1."""
    measures_noise: bool = False
    """Whether the rounds are A/A pairs, which compare one server with itself."""
    noise: Noise | None = None
    """Noise floor of this machine, measured before the run. Null: unknown or outdated."""
    search: Search | None = None
    """Search for the highest rate. With a search, ``plan`` contains only the first trial. Null: no search."""
    gates: tuple[Gate, ...] = ()
    """Gates on changes relative to the baseline."""
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate counts as failed."""
    looks: tuple[int, ...] = ()
    """Numbers of rounds after which the run ends if its gates are decided, so that its plan contains the maximum. Empty: it runs all
    rounds."""
    profiles: tuple[Profile, ...] = ()
    """Profiles from a last round that doesn't count. Empty: none."""
    name: str | None = None
    """Name of the run, for ``report`` and ``compare``. Null: none."""
    tags: tuple[str, ...] = ()
    """Tags that the user gave the run, for searches in the dashboard."""
    load_host: LoadHost | None = None
    """Machine that ran the load generators. Null: this machine."""
    published: str | None = None
    """Project that published the results, e.g. ``techempower``. Most of the environment is then unknown. Null: measured by httpbench."""

    def profile_of(self, target: str, scaling: Scaling, workload: str, load: Load) -> Profile | None:
        """Return the profile of a target under a load, or ``None``. The profiled round may have other durations."""
        return next((profile for profile in self.profiles if profile.is_of(target, scaling, workload, load)), None)
