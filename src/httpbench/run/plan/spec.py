"""The definition of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from httpbench.host import Topology
from httpbench.load import Tool
from httpbench.model import Gate, Precision, Search, Table, Target, TrialPlan, Workload
from httpbench.run.builds.features import built_for_load
from httpbench.run.load.place import HERE, BackendPlace, LoadPlace
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.trial.context import START_LIMIT_S

if TYPE_CHECKING:
    from httpbench.profile import Profilers


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The definition of a run: its plan, and the objects that the plan refers to by name."""

    plan: RunPlan
    targets: Mapping[str, Target]
    workloads: Mapping[str, Workload]
    generators: Mapping[str, Tool]
    """Load generators by name, or timers for clients."""
    topology: Topology
    """Topology of this machine, for which the plan was made."""
    command: tuple[str, ...]
    table: Table = Table.HTTP_SERVERS
    baseline: str | None = None
    precision: Precision | None = None
    """Precision that ends the run early once it is reached, or ``None`` to run all rounds."""
    measures_noise: bool = False
    """Whether the plan consists of A/A pairs."""
    gates: tuple[Gate, ...] = ()
    """Gates that limit how much each target may differ from the baseline."""
    looks: tuple[int, ...] = ()
    """Numbers of rounds after which the run ends if its gates are decided. Empty: it runs all rounds."""
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate fails the run."""
    search: Search | None = None
    """Search that chooses further trials after the planned ones, or ``None``."""
    retries: int = 0
    """Maximum number of repeats of a disturbed trial. A search repeats no trials."""
    name: str | None = None
    tags: tuple[str, ...] = ()
    """Tags of the run."""
    parallel_builds: int = 2
    port: int | None = None
    start_limit_s: float = START_LIMIT_S
    load_place: LoadPlace = HERE
    """Place where load generators run."""
    backend_there: bool = False
    """Whether the backend of proxies runs on the load host."""
    backend_place: BackendPlace | None = None
    """Host of the backend, or ``None`` if it isn't connected yet or the backend runs on this machine."""
    scale: float = 1.0
    """Factor by which the suite's rates and times were multiplied."""

    profilers: Profilers | None = None
    """Profilers for a last round, or ``None`` to profile nothing."""

    def built(self, planned: TrialPlan) -> Target:
        """Return the target of a trial, with the features that the trial needs."""
        return built_for_load(self.targets[planned.target], self.workloads[planned.workload], planned.load)

    @property
    def cpus(self) -> frozenset[int]:
        """Logical CPUs that the run uses."""
        ways = {trial_plan.cores for trial_plan in self.plan.trials}
        return frozenset(
            cpu for cores in ways for cpu in (*cores.target, *cores.generator, *cores.backend, *cores.database, *cores.harness)
        )

    @property
    def target_ids(self) -> list[str]:
        """Distinct ids of all planned targets, in the order of the plan."""
        return list(dict.fromkeys(trial_plan.target for trial_plan in self.plan.trials))
