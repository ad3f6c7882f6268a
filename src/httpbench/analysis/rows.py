"""What a row of a table is, and what the rows of one table have in common."""

from __future__ import annotations

from dataclasses import dataclass, replace

from httpbench.load import GENERATORS
from httpbench.model import ClientWork, Load, Probed, Scaling, Target, Trial, VerdictKind
from httpbench.stats.summary import Latency, Summary


@dataclass(frozen=True, slots=True)
class Row:
    """One target under one load."""

    target: Target
    summary: Summary
    trials: tuple[Trial, ...]
    """Its rounds: of each the last attempt."""
    response_bytes: int | None
    """Size of the sampled response, header block and body."""
    odd_size: bool
    """That size is far from those of the group's other rows."""
    log_tail: str | None
    """Of the last round that does not count."""
    probed: Probed | None
    """Of the run's first trial of the target that was probed."""
    measured: Summary | None = None
    """What was measured, where no round counts: shown struck through, never compared."""
    repeated: tuple[Trial, ...] = ()
    """Disturbed trials that were followed by another attempt."""

    @property
    def counts(self) -> bool:
        """Whether the row has figures to show."""
        return self.summary.rounds_counting > 0

    @property
    def as_measured(self) -> Row:
        """The same row with what was measured in rounds that do not count, where no round counts."""
        return self if self.measured is None else replace(self, summary=self.measured)

    @property
    def counts_partly(self) -> bool:
        """Some of its rounds do not count, and its figures are of the others."""
        return 0 < self.summary.rounds_counting < self.summary.rounds

    @property
    def attempts(self) -> list[Trial]:
        """All its trials, by round and attempt."""
        return sorted((*self.trials, *self.repeated), key=lambda trial: (trial.plan.round, trial.plan.attempt))

    @property
    def is_lower_bound(self) -> bool:
        """The target can do more than its figures say, and its place may be too low: the generator, the backend or the database was
        full, or nearly."""
        limits = (
            VerdictKind.GENERATOR,
            VerdictKind.BOTH,
            VerdictKind.DATABASE,
            *([VerdictKind.BACKEND] if self.target.is_declared else []),
        )
        return self.counts and self.summary.verdict.kind in limits

    @property
    def latency(self) -> Latency | None:
        """Response time where the load has a rate and the generator knows it, service time otherwise."""
        return self.summary.response_time_us or self.summary.service_time_us


@dataclass(frozen=True, slots=True)
class Group:
    """Rows that may be compared."""

    scaling: Scaling
    workload: str
    load: Load
    load_generator: str
    several_generators: bool
    """Whether the run has tables of other load generators too."""
    generator_version: str | None
    """``None``: no trial recorded it."""
    cores_shared: bool
    backend_shared: bool
    """The backend of proxies and the load generator had a core in common."""
    database_shared: bool
    """The database and the load generator had a core in common."""
    target_cores: int
    """Physical cores of the targets."""
    workers: int | None
    """Workers that the user chose; ``None``: one per core."""
    scale: float
    rounds: int
    generator_notes: tuple[str, ...]
    """What the generator's figures leave out: all notes of all trials."""
    rows: tuple[Row, ...]
    load_host: str | None = None
    """Where the load generator ran, with its cores; ``None``: on the target's machine."""
    backend_there: bool = False
    """The backend of proxies ran on the load host."""
    client_work: ClientWork | None = None
    """The work of clients; ``None``: they are no clients."""

    @property
    def latency_meaning(self) -> str | None:
        """One sentence; ``None`` for a generator that this version does not know."""
        generator = GENERATORS.get(self.load_generator)
        return generator.latency_meaning if generator else None
