"""All that a run is made from."""

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
    """All that a run is made from: its plan, and what the plan's names stand for."""

    plan: RunPlan
    targets: Mapping[str, Target]
    workloads: Mapping[str, Workload]
    generators: Mapping[str, Tool]
    """Load generators by name; for clients, timers."""
    topology: Topology
    """Of this machine, read once: the plan was made from it."""
    command: tuple[str, ...]
    table: Table = Table.HTTP_SERVERS
    baseline: str | None = None
    precision: Precision | None = None
    """Can end the run before its plan does."""
    measures_noise: bool = False
    """The plan consists of A/A pairs."""
    gates: tuple[Gate, ...] = ()
    """Of the targets against the baseline."""
    search: Search | None = None
    """Chooses further trials after those of the plan."""
    retries: int = 0
    """How often a disturbed trial is repeated at most. A search makes other trials instead."""
    name: str | None = None
    tags: tuple[str, ...] = ()
    """Of the run."""
    parallel_builds: int = 2
    port: int | None = None
    start_limit_s: float = START_LIMIT_S
    load_place: LoadPlace = HERE
    """Where load generators run."""
    backend_there: bool = False
    """Whether the backend of proxies runs on the load host."""
    backend_place: BackendPlace | None = None
    """That host, once it is connected."""
    scale: float = 1.0
    """The suite's rates and times were multiplied by this."""

    @property
    def cpus(self) -> frozenset[int]:
        """Logical CPUs that the run takes."""
        ways = {trial_plan.cores for trial_plan in self.plan.trials}
        return frozenset(
            cpu for cores in ways for cpu in (*cores.target, *cores.generator, *cores.backend, *cores.database, *cores.harness)
        )

    @property
    def target_ids(self) -> list[str]:
        """Of all planned trials, each once, in the order of the plan."""
        return list(dict.fromkeys(trial_plan.target for trial_plan in self.plan.trials))
