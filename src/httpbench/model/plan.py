"""The plan of a trial, including the CPUs that its programs use."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import Field

from httpbench.model.frozen import Frozen, Id, Name, WorkloadName
from httpbench.model.load import Load
from httpbench.model.target import Scaling


class Cores(Frozen):
    """The logical CPUs assigned to each program."""

    target: tuple[int, ...]
    """Logical CPUs of the target."""
    generator: tuple[int, ...]
    """Logical CPUs of the load generator."""
    harness: tuple[int, ...]
    """Logical CPUs of the harness."""
    backend: tuple[int, ...] = ()
    """Logical CPUs of the server behind a proxy. Empty: no proxy."""
    database: tuple[int, ...] = ()
    """Logical CPUs of the target's database. Empty: no database."""
    shared: bool
    """Whether the target and the load generator share a CPU. If so, every table reports it."""
    siblings: tuple[tuple[int, ...], ...] = ()
    """Groups of logical CPUs that share a physical core (SMT). A CPU that isn't in any group has a core to itself. A group can contain CPUs
    that no program of the run may use."""

    def physical(self, cpus: Collection[int]) -> int:
        """Return the number of physical cores of these logical CPUs."""
        core_of = {cpu: group[0] for group in self.siblings for cpu in group}
        return len({core_of.get(cpu, cpu) for cpu in cpus})

    def with_siblings(self, cpus: Collection[int]) -> frozenset[int]:
        """Return these logical CPUs and all other CPUs on the same physical cores."""
        return frozenset(cpus).union(*(group for group in self.siblings if set(group) & set(cpus)))

    @property
    def measured(self) -> frozenset[int]:
        """Logical CPUs of the physical cores that the target, load generator, backend and database use."""
        return self.with_siblings({*self.target, *self.generator, *self.backend, *self.database})

    @property
    def backend_shared(self) -> bool:
        """Whether the backend and the load generator share a CPU. If so, every table reports it."""
        return bool(set(self.backend) & set(self.generator))

    @property
    def database_shared(self) -> bool:
        """Whether the database and the load generator share a CPU. If so, every table reports it."""
        return bool(set(self.database) & set(self.generator))


class TrialPlan(Frozen):
    """The plan of a trial: which target to measure, and under which workload and load."""

    number: int
    """Position in the run, from 0. Repeats follow all planned trials."""
    round: int
    """Number of the round, from 0."""
    target: Id
    """Id of the target."""
    scaling: Scaling
    """Scaling of the target."""
    workload: WorkloadName
    """Name of the workload."""
    load: Load
    """Load of the trial."""
    load_generator: Name
    """Name of the load generator, or of the timer for clients."""
    cores: Cores
    """Logical CPUs of each program."""
    workers: int | None = None
    """Number of workers or copies of the target. Null: one per physical core."""
    slices: int | None = Field(default=None, ge=1)
    """Number of slices in which the target is measured, alternating with the other targets of the table. Null: the target is measured in
    one window."""
    attempt: int = Field(default=0, ge=0)
    """Number of the attempt: 0 for the planned trial, higher for repeats after disturbed attempts."""

    @property
    def cell(self) -> tuple[str, Scaling, str, str, Load]:
        """Fields that identify the trial's cell. Their values are the same in all rounds."""
        return (self.target, self.scaling, self.workload, self.load_generator, self.load)
