"""Everything that defines a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from httpbench.host import Topology
from httpbench.load import Tool
from httpbench.model import Gate, Precision, Search, Table, Target, Workload
from httpbench.run.load.place import HERE, BackendPlace, LoadPlace
from httpbench.run.plan.run_plan import RunPlan
from httpbench.run.trial.start import START_LIMIT_S


@dataclass(frozen=True, slots=True)
class RunSpec:
    """Everything that defines a run: its plan, and the objects that the plan names."""

    plan: RunPlan
    targets: Mapping[str, Target]
    workloads: Mapping[str, Workload]
    generators: Mapping[str, Tool]
    """Load generators by name, or timers for clients."""
    topology: Topology
    """This machine's topology, on which the plan is based."""
    command: tuple[str, ...]
    table: Table = Table.HTTP_SERVERS
    baseline: str | None = None
    precision: Precision | None = None
    """Precision that ends the run early once it is reached, or ``None`` to run all rounds."""
    measures_noise: bool = False
    """Whether the plan consists of A/A pairs."""
    gates: tuple[Gate, ...] = ()
    """Gates that bound the change of each target from the baseline."""
    fails_if_inconclusive: bool = False
    """Whether an inconclusive gate fails the run."""
    search: Search | None = None
    """Search that chooses further trials after the planned ones, or ``None``."""
    retries: int = 0
    """Maximum number of repeats of a disturbed trial. A search runs other trials instead."""
    name: str | None = None
    tags: tuple[str, ...] = ()
    """Tags of the run."""
    parallel_builds: int = 2
    port: int | None = None
    start_limit_s: float = START_LIMIT_S
    load_place: LoadPlace = HERE
    """The host of the load generators."""
    backend_there: bool = False
    """Whether the backend of proxies runs on the load host."""
    backend_place: BackendPlace | None = None
    """The backend's host, once it is connected."""
    scale: float = 1.0
    """Factor that the suite's rates and times were multiplied by."""

    @property
    def cpus(self) -> frozenset[int]:
        """Logical CPUs that the run uses."""
        ways = {trial_plan.cores for trial_plan in self.plan.trials}
        return frozenset(
            cpu for cores in ways for cpu in (*cores.target, *cores.generator, *cores.backend, *cores.database, *cores.harness)
        )

    @property
    def target_ids(self) -> list[str]:
        """Ids of all planned targets, each once, in the order of the plan."""
        return list(dict.fromkeys(trial_plan.target for trial_plan in self.plan.trials))
