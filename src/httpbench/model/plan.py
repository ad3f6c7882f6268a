"""The plan of a trial, and its cores."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import Field

from httpbench.model.frozen import Frozen, Id, Name, WorkloadName
from httpbench.model.load import Load
from httpbench.model.target import Scaling


class Cores(Frozen):
    """Which logical CPUs each program gets."""

    target: tuple[int, ...]
    """Logical CPUs of the target."""
    generator: tuple[int, ...]
    """Logical CPUs of the load generator."""
    harness: tuple[int, ...]
    """Logical CPUs of the harness."""
    backend: tuple[int, ...] = ()
    """Logical CPUs of the server behind a proxy; empty for servers and clients."""
    database: tuple[int, ...] = ()
    """Logical CPUs of the target's database; empty: there is none."""
    shared: bool
    """Whether the target and the load generator have a CPU in common; every table says so."""
    siblings: tuple[tuple[int, ...], ...] = ()
    """Logical CPUs that share a physical core (SMT), one group for each such core; a CPU in no group is a core of its own. A group may
    contain CPUs that no program of the run may use."""

    def physical(self, cpus: Collection[int]) -> int:
        """How many physical cores these logical CPUs are on."""
        core_of = {cpu: group[0] for group in self.siblings for cpu in group}
        return len({core_of.get(cpu, cpu) for cpu in cpus})

    def with_siblings(self, cpus: Collection[int]) -> frozenset[int]:
        """These logical CPUs, and all others on the same physical cores."""
        return frozenset(cpus).union(*(group for group in self.siblings if set(group) & set(cpus)))

    @property
    def measured(self) -> frozenset[int]:
        """Logical CPUs of the physical cores that target, load generator, backend and database run on."""
        return self.with_siblings({*self.target, *self.generator, *self.backend, *self.database})

    @property
    def backend_shared(self) -> bool:
        """The backend and the generator have a core in common; every table says so too."""
        return bool(set(self.backend) & set(self.generator))

    @property
    def database_shared(self) -> bool:
        """The database and the generator have a core in common; every table says so too."""
        return bool(set(self.database) & set(self.generator))


class TrialPlan(Frozen):
    """One trial: a target, started, warmed up, measured and stopped once under one workload and one load."""

    number: int
    """Place in the run, from 0; repeats follow all planned trials."""
    round: int
    """Round, from 0."""
    target: Id
    """Id of the target."""
    scaling: Scaling
    """How the target uses cores."""
    workload: WorkloadName
    """Name of the workload."""
    load: Load
    """How the requests are made."""
    load_generator: Name
    """Name of the load generator; for clients of the timer."""
    cores: Cores
    """Which CPUs each program gets."""
    workers: int | None = None
    """Number of workers or copies of the target that the user chose. Null: one for each of its physical cores."""
    attempt: int = Field(default=0, ge=0)
    """0: as planned. Higher: a repeat, because the attempts before it were disturbed."""

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """What its rounds have in common."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)
